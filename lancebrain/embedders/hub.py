"""Models on this machine, and those that have to be fetched first. The only place that fetches."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from lancebrain.embedders.engine import Backend, EngineOptions
from lancebrain.errors import EmbedderError, ModelUnavailableError

_NEVER = ["*.h5", "*.msgpack", "*.ot", "*.gguf", "flax_*", "tf_*", "rust_*", "coreml/*"]
"""Weights in forms that nothing here reads."""
_WEIGHTS = frozenset({".safetensors", ".bin", ".onnx", ".xml"})


def model_folder(name: str, options: EngineOptions) -> Path:
    """The folder of a model, fetched if it is not there.

    One that is there is taken as it is: nobody is asked whether there is a newer one. How far a
    download has come is shown on stderr.

    Args:
        name: a folder, or a name on the hub, ``owner/model``.

    Raises:
        ModelUnavailableError: it is not on this machine, and cannot be fetched now.
        EmbedderError: there is no such model.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if name.startswith((".", "~", "/")) or name.count("/") != 1:
        raise EmbedderError(
            f"There is no folder {name!r}, and no model has such a name.",
            hint="Name a folder, or a model of the hub: sentence-transformers:owner/model",
        )
    there = _in_cache(name, options)
    if there is not None:
        return there
    if options.offline:
        raise EmbedderError(
            f"The model {name!r} is not on this machine, and model_offline forbids to fetch it.",
            hint="Set model_offline = false once, or name its folder.",
        )
    return _fetched(name, options)


def _in_cache(name: str, options: EngineOptions) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        found = Path(snapshot_download(name, cache_dir=options.cache_folder, local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    except HFValidationError as error:
        raise EmbedderError(f"No model can be named {name!r}: {error}") from error
    return found if _is_whole(found, options) else None


def _is_whole(folder: Path, options: EngineOptions) -> bool:
    """Whether a download was not cut short before the weights were there."""
    shards = (file for index in folder.glob("*.index.json") for file in _shards(index))
    exported = (folder / options.backend).glob("*")  # none for torch
    return (
        any((folder / name).exists() for name in ("config.json", "modules.json"))
        and all(shard.exists() for shard in shards)
        and any(
            file.suffix in _WEIGHTS and file.name != "training_args.bin"
            for file in (*exported, *folder.glob("*"), *folder.glob("*_*/*"))
        )
    )


def _shards(index: Path) -> set[Path]:
    """The files of weights that a model in several of them says it has."""
    try:
        listed = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
        return {index.with_name(name) for name in listed}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _fetched(name: str, options: EngineOptions) -> Path:
    import httpx2
    from huggingface_hub import list_repo_files, snapshot_download
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    try:
        left_out = _left_out(list_repo_files(name), options.backend)
        sys.stderr.write(f"Fetching the model {name} …\n")
        return Path(
            snapshot_download(name, cache_dir=options.cache_folder, ignore_patterns=left_out)
        )
    except GatedRepoError as error:
        raise EmbedderError(
            f"The model {name!r} is only for those who agree to its terms.",
            hint=f"Agree at https://huggingface.co/{name}, then: hf auth login",
        ) from error
    except RepositoryNotFoundError as error:
        raise EmbedderError(
            f"There is no model {name!r} on the hub.", hint="Look for its name there."
        ) from error
    except (httpx2.HTTPError, OSError) as error:
        raise ModelUnavailableError(
            f"The model {name!r} cannot be fetched: {type(error).__name__}.",
            hint="It is fetched once. Connect to the network, or name a folder that has it.",
        ) from error


def _left_out(files: Sequence[str], backend: Backend) -> list[str]:
    """Patterns of weights that are there a second time, for another backend."""
    others = [f"{other}/*" for other in ("onnx", "openvino") if other != backend]
    if any(file.startswith(f"{backend}/") for file in files):
        at_root = (file for file in files if "/" not in file)
        return [*_NEVER, *others, *(file for file in at_root if _is_of_torch(file))]
    is_safe = any(file.endswith(".safetensors") for file in files)
    return [*_NEVER, *others, *(["pytorch_model*"] if is_safe else [])]


def _is_of_torch(file: str) -> bool:
    return ".safetensors" in file or file.startswith("pytorch_model")
