"""Changing a ``lancebrain.toml`` that a person also edits: comments and layout stay."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lancebrain.config.atomic import write_atomically
from lancebrain.config.entries import parse_sources
from lancebrain.config.files import read_text, read_toml
from lancebrain.config.remembered import entry_of
from lancebrain.errors import ConfigError
from lancebrain.types import Source

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import AoT, Array

_TEMPLATE = """\
# What LanceBrain indexes, and how. A line that starts with '#' shows a default: remove the '#'
# to change it. Each key can also be set as a variable, such as LANCEBRAIN_THREADS=2.

# index = "~/.local/share/lancebrain/index"   # else the data folder of the platform; or s3://…
# model = "auto"                 # that of the index; or a name from: lancebrain model list
# threads = 1                    # that it may use
# model_device = "cuda"          # where sentence-transformers computes; else it decides
# model_backend = "torch"        # or onnx, openvino
# model_folder = "~/models"      # where its models are kept; else its own cache
# model_offline = false          # never fetch a model
# model_url = "http://127.0.0.1:8080"  # a server of models on this machine; else its usual place
# trust_remote_code = false      # of models that bring code of their own
# reranker = "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1"  # of search --rerank
# rerank_s = 2                   # the time it has
# max_file_bytes = 67108864      # larger files are left out and reported
# mask_secrets = "logs"          # no keys and tokens of session logs in the index; all, none
# subagent_logs = false          # also what agents say among themselves
# look_interval_s = 30           # at most this long until a change is noticed without an event
# keep_versions_days = 7         # how far back one can go without a checkpoint
# cache_budget_bytes = 536870912 # for vectors of texts that were removed
# gitignore = true               # leave out what .gitignore does
# follow_symlinks = true         # within a source, never out of it
# use_polling = false            # for drives without file events
# lock_timeout_s = 60            # how long to wait for another process
# refresh_s = 5                  # so long may commits of others stay unseen on object storage
# storage_options = { region = "eu-central-1" }  # of object storage, as its documentation has them

# A source is a folder. Without a configuration, 'lancebrain sync FOLDER' makes one as well.
# [[sources]]
# name = "notes"
# root = "~/notes"
# kind = "md"                    # md, text, claude, codex, gemini, jsonl; else by name and content
# domain = "knowledge"           # a label to search by
# include = ["*.md"]             # take only these; patterns as in .gitignore
# exclude = ["_archive/"]        # leave these out
# recursive = true               # the folders below too
# writable = false               # tools may write notes here
"""


def write_default_config(path: Path, sources: Iterable[Source] = ()) -> None:
    """Write a new configuration that explains itself.

    Args:
        sources: to start with.

    Raises:
        ConfigError: the file exists already, or cannot be written.
    """
    if path.exists():
        raise ConfigError(
            f"{path} exists already.", hint="Add a source with: lancebrain sources add FOLDER"
        )
    document = _parsed(_TEMPLATE)
    for source in sources:
        _append(document, source)
    _write(path, document)


def add_source_to_config(file: Path, source: Source) -> None:
    """Append a source to a configuration file.

    Raises:
        ConfigError: the file is wrong, has a source of that name, or cannot be written.
    """
    if any(other.name == source.name for other in _sources_in(file)):
        raise ConfigError(
            f"{file} has a source called {source.name!r} already.",
            hint="Choose another with --name.",
        )
    document = _parsed(read_text(file))
    _append(document, source)
    _write(file, document)


def remove_source_from_config(file: Path, name: str) -> bool:
    """Remove a source from a configuration file; False if it has none of that name.

    Raises:
        ConfigError: the file is wrong or cannot be written.
    """
    for position, source in enumerate(_sources_in(file)):
        if source.name == name:
            document = _parsed(read_text(file))
            entries = cast("AoT | Array", document["sources"])
            del entries[position]
            if not entries:
                del document["sources"]
            _write(file, document)
            return True
    return False


def set_model_in_config(file: Path, model: str) -> bool:
    """Write another model into a configuration file; False if it names none.

    Raises:
        ConfigError: the file is wrong or cannot be written.
    """
    if "model" not in read_toml(file):
        return False
    document = _parsed(read_text(file))
    document["model"] = model
    _write(file, document)
    return True


def _sources_in(file: Path) -> tuple[Source, ...]:
    return parse_sources(read_toml(file).get("sources", []), file.parent, str(file))


def _parsed(text: str) -> TOMLDocument:
    import tomlkit

    return tomlkit.parse(text)


def _append(document: TOMLDocument, source: Source) -> None:
    import tomlkit
    from tomlkit.items import Array

    entry = entry_of(source)
    entry["root"] = _with_tilde(str(entry["root"]))
    entries = document.get("sources")
    if isinstance(entries, Array):
        inline = tomlkit.inline_table()
        inline.update(entry)
        entries.append(inline)
        return
    table = tomlkit.table()
    table.update(entry)
    if entries is None:
        entries = tomlkit.aot()
        entries.append(table)
        document.append("sources", entries)
    else:
        entries.append(table)


def _with_tilde(root: str) -> str:
    """A root below the home folder as ``~/…``, so that the file serves on other machines too."""
    try:
        below = Path(root).relative_to(Path.home())
    except (ValueError, RuntimeError):
        return root
    return f"~/{below.as_posix()}"


def _write(file: Path, document: TOMLDocument) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, document.as_string())
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from None
