"""Cross-encoders: models that read a question and a passage together, and tell how well they fit.

Much slower than comparing vectors, and better: for the first few passages of an answer.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from lancebrain.embedders.engine import EngineOptions
from lancebrain.embedders.hub import model_folder
from lancebrain.embedders.texts import speakable
from lancebrain.embedders.transformer import ABOUT
from lancebrain.errors import EmbedderError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder


class Reranker(Protocol):
    """A model that scores passages for a question."""

    name: str

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """(n,) from 0 to 1, higher is better.

        Raises:
            EmbedderError: the model failed.
        """
        ...


def load_reranker(name: str, options: EngineOptions) -> Reranker:
    """Load a cross-encoder by its name on the hub or by folder; takes some ten seconds.

    Raises:
        ModelUnavailableError: it is not on this machine and cannot be fetched now.
        EmbedderError: the library is missing, or the model fails to load.
    """
    if ABOUT.missing:
        raise EmbedderError(
            f"Reranking needs {', '.join(ABOUT.missing)}.",
            hint=f"Install it: pip install '{ABOUT.install}'",
        )
    folder = model_folder(name, replace(options, backend="torch"))
    import torch
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(options.threads)
    try:
        model = CrossEncoder(
            str(folder),
            device=options.device,
            trust_remote_code=options.trust_remote_code,
            local_files_only=options.offline or not options.trust_remote_code,
            num_labels=1,
            activation_fn=torch.nn.Sigmoid(),
        )
    except Exception as error:  # the library and those below it raise what they like
        raise EmbedderError(f"The reranker {name!r} cannot be loaded: {error}.") from error
    return _CrossEncoder(name, model)


class _CrossEncoder:
    def __init__(self, name: str, model: CrossEncoder) -> None:
        self.name = name
        self._model = model
        self._one_at_a_time = threading.Lock()

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        pairs = [(speakable(question), speakable(passage)) for passage in passages]
        try:
            with self._one_at_a_time:
                scores = self._model.predict(
                    pairs, batch_size=len(pairs), show_progress_bar=False, convert_to_numpy=True
                )
        except (RuntimeError, ValueError, IndexError, MemoryError) as error:
            raise EmbedderError(f"The reranker {self.name!r} failed: {error}.") from error
        return np.asarray(scores, dtype=np.float32)
