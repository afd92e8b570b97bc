"""The one settings object that everything above is given.

The fields here are the keys of ``lancebrain.toml``, and ``LANCEBRAIN_`` plus the name in capitals
is the variable of each. Plain pydantic: values come from a mapping that is passed in, and each
has to be traced to its file, variable or flag, which :mod:`lancebrain.config.load` does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lancebrain.types import Source

AUTO = "auto"
MIB = 1024 * 1024

Count = Annotated[int, Field(ge=1)]
Bytes = Annotated[int, Field(ge=0)]
Duration = Annotated[float, Field(ge=0)]


def _as_text(value: object) -> object:
    """``true`` and numbers as LanceDB takes them, which knows text alone."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


Option = Annotated[str, BeforeValidator(_as_text)]


def default_index_folder() -> Path:
    """The platform's data folder, where an index goes that no one placed elsewhere."""
    import platformdirs

    return Path(platformdirs.user_data_dir("lancebrain", appauthor=False)) / "index"


class Settings(BaseModel):
    """What can be configured; frozen.

    Attributes:
        index: absolute folder of the index; of one on object storage, of what this machine keeps
            of it.
        index_uri: where the index is, if that is no folder; not a key, since ``index`` says it.
        storage_options: for object storage, as LanceDB takes them: an endpoint, a region, and
            credentials that the environment does not have.
        refresh_s: how long another machine's commits may stay unseen, on object storage.
        sources: the folders to index, of the configuration and of the index itself.
        config_file: the file that these settings were read from, if one was; not a key.
        model: a name of :mod:`lancebrain.embedders.registry`, ``package.module:factory`` for
            one's own; or ``auto``: the model that the index has.
        threads: that a model may use; more than 1 is slower on a busy machine.
        model_device, model_backend: that sentence-transformers computes on and with.
        model_folder: where fetched models are kept; else where their library keeps them.
        model_offline: never fetch a model.
        model_url: of the server that embeds, for the engines ``ollama`` and ``openai``.
        trust_remote_code: run the code that a fetched model brings along.
        reranker: the cross-encoder for ``--rerank``.
        rerank_s: what reranking an answer may take.
        max_file_bytes: larger files are left out and reported; session logs are not.
        mask_secrets: put ``[secret: kind]`` for keys and tokens in session ``logs``, in ``all``
            files, or in ``none``.
        subagent_logs: keep what agents said among themselves, too.
        look_interval_s: at least this long between two full looks at the sources.
        keep_versions_days: how long versions without a checkpoint stay readable.
        cache_budget_bytes: for vectors of rows that are gone.
        gitignore: what ``.gitignore`` excludes is not indexed.
        follow_symlinks: within a source; never out of it.
        use_polling: do not rely on the file events of the operating system.
        lock_timeout_s: how long to wait for another process to finish a commit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    index: Path = Field(default_factory=default_index_folder)
    index_uri: str | None = None
    storage_options: dict[str, Option] = Field(default_factory=dict, repr=False)
    refresh_s: Duration = 5.0
    sources: tuple[Source, ...] = ()
    config_file: Path | None = None
    model: Annotated[str, Field(min_length=1)] = AUTO
    threads: Count = 1
    model_device: Annotated[str, Field(min_length=1)] | None = None
    model_backend: Literal["torch", "onnx", "openvino"] = "torch"
    model_folder: Path | None = None
    model_offline: bool = False
    model_url: Annotated[str, Field(pattern=r"^https?://")] | None = None
    trust_remote_code: bool = False
    reranker: Annotated[str, Field(min_length=1)] = "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1"
    rerank_s: Duration = 2.0
    max_file_bytes: Count = 64 * MIB
    mask_secrets: Literal["logs", "all", "none"] = "logs"
    subagent_logs: bool = False
    look_interval_s: Duration = 30.0
    keep_versions_days: Duration = 7.0
    cache_budget_bytes: Bytes = 512 * MIB
    gitignore: bool = True
    follow_symlinks: bool = True
    use_polling: bool = False
    lock_timeout_s: Duration = 60.0

    @property
    def index_name(self) -> str:
        """Where the index is, as ``--index`` takes it."""
        return self.index_uri or str(self.index)

    @property
    def is_auto(self) -> bool:
        """Whether the index decides which model is used."""
        return self.model == AUTO


KEYS = tuple(name for name in Settings.model_fields if name not in ("config_file", "index_uri"))
"""The keys of a configuration file."""
