"""Models on this machine, and those that have to be fetched first. The only place that fetches."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from lancebrain.embedders.engine import Backend, EngineOptions
from lancebrain.errors import EmbedderError, ModelUnavailableError

_NEVER = ["*.h5", "*.msgpack", "*.ot", "*.gguf", "flax_*", "tf_*", "rust_*", "coreml/*"]
"""Weights in forms that nothing here reads."""


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
    place = folder if options.backend == "torch" else folder / options.backend
    endings = {".safetensors", ".bin", ".onnx", ".xml"}
    return (folder / "config.json").exists() and any(
        file.suffix in endings for file in place.glob("*")
    )


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
    if backend != "torch":
        return [*_NEVER, *others, "*.safetensors", "pytorch_model*"]
    is_safe = any(file.endswith(".safetensors") for file in files)
    return [*_NEVER, *others, *(["pytorch_model*"] if is_safe else [])]
