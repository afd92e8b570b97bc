"""A second model for tests that change one: ``tests.other_model:make``."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.stand_in import StandIn

DIM = 128
LOG = "OTHER_MODEL_LOG"
"""A variable that names a file: each passage is written there, a line each, once it is embedded."""


class OtherModel(StandIn):
    """A stand-in with longer vectors, whose work can be counted over processes."""

    def __init__(self) -> None:
        super().__init__(dim=DIM, revision="other")

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_passages`."""
        vectors = super().embed_passages(texts)
        time.sleep(float(os.environ.get("OTHER_MODEL_S", "0")) * len(texts))
        if LOG in os.environ:
            with Path(os.environ[LOG]).open("a", encoding="utf-8") as log:
                log.writelines(f"{text!r}\n" for text in texts)
        return vectors


def make() -> OtherModel:
    """A fresh one."""
    return OtherModel()
