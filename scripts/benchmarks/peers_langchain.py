"""LangChain's indexing API, with a record manager in SQLite and Chroma as the vector store."""

from __future__ import annotations

import time
from pathlib import Path

from langchain_chroma import Chroma
from langchain_classic.indexes import SQLRecordManager
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import index

from benchmarks.peers_chroma import client_of, held_by, splitter
from benchmarks.peers_tool import Held
from lancebrain.embedders import Embedder


class _Embeddings(Embeddings):  # type: ignore[misc]
    def __init__(self, model: Embedder) -> None:
        self._model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._model.embed_passages(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._model.embed_query(text).tolist()
        return vector


class _LangChain:
    """All files are loaded and split, and the record manager tells which chunks are new."""

    name = ""
    cleanup = ""

    def __init__(self, root: Path, store: Path, model: Embedder) -> None:
        self.root = root
        self.store = store
        self._model = model
        self._splitter = splitter()

    def start(self) -> float:
        """See :class:`benchmarks.peers_tool.Tool`."""
        started = time.perf_counter()
        self._chroma = Chroma("notes", _Embeddings(self._model), client=client_of(self.store))
        self._records = SQLRecordManager(
            "chroma/notes", db_url=f"sqlite:///{self.store / 'records.sqlite'}"
        )
        self._records.create_schema()
        return time.perf_counter() - started

    def settle(self) -> float:
        """See :class:`benchmarks.peers_tool.Tool`."""
        started = time.perf_counter()
        documents = [
            Document(file.read_text(), metadata={"source": str(file)})
            for file in sorted(self.root.rglob("*.md"))
        ]
        index(
            self._splitter.split_documents(documents),
            self._records,
            self._chroma,
            cleanup=self.cleanup,
            source_id_key="source",
            key_encoder="blake2b",
        )
        return time.perf_counter() - started

    def stop(self) -> None:
        """See :class:`benchmarks.peers_tool.Tool`."""
        self._records.engine.dispose()

    def held(self) -> Held:
        """See :class:`benchmarks.peers_tool.Tool`."""
        return held_by(self._chroma._collection, "source")


class LangChainIncremental(_LangChain):
    """Old chunks of the files that were given are removed as indexing goes on."""

    name = "LangChain, incremental"
    cleanup = "incremental"


class LangChainFull(_LangChain):
    """All that was not given is removed in the end."""

    name = "LangChain, full"
    cleanup = "full"
