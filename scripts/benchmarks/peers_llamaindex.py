"""LlamaIndex's ingestion pipeline with a document store, and Chroma as the vector store."""

from __future__ import annotations

import time
from pathlib import Path

from llama_index.core import SimpleDirectoryReader
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.vector_stores.chroma import ChromaVectorStore
from pydantic import PrivateAttr

from benchmarks.peers_chroma import client_of, held_by
from benchmarks.peers_tool import Held
from lancebrain.embedders import Embedder


class _Embedding(BaseEmbedding):  # type: ignore[misc]
    _model: Embedder = PrivateAttr()

    def __init__(self, model: Embedder) -> None:
        super().__init__(model_name=model.name)
        self._model = model

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._model.embed_passages(texts).tolist()
        return vectors

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        vector: list[float] = self._model.embed_query(query).tolist()
        return vector

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class LlamaIndex:
    """All files are loaded, and the document store tells which documents have changed."""

    name = "LlamaIndex, upserts and delete"

    def __init__(self, root: Path, store: Path, model: Embedder) -> None:
        self.root = root
        self.store = store
        self._model = model

    def start(self) -> float:
        """See :class:`benchmarks.peers_tool.Tool`."""
        started = time.perf_counter()
        self._collection = client_of(self.store).get_or_create_collection(
            "notes", embedding_function=None
        )
        self._pipeline = IngestionPipeline(
            transformations=[SentenceSplitter(), _Embedding(self._model)],
            docstore=SimpleDocumentStore(),
            docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
            vector_store=ChromaVectorStore(chroma_collection=self._collection),
        )
        if self._kept.exists():
            self._pipeline.load(str(self._kept))
        return time.perf_counter() - started

    def settle(self) -> float:
        """See :class:`benchmarks.peers_tool.Tool`."""
        started = time.perf_counter()
        documents = SimpleDirectoryReader(
            str(self.root), recursive=True, required_exts=[".md"], filename_as_id=True
        ).load_data()
        self._pipeline.run(documents=documents)
        self._pipeline.persist(str(self._kept))
        return time.perf_counter() - started

    def stop(self) -> None:
        """See :class:`benchmarks.peers_tool.Tool`; what it knows is written at each run."""

    def held(self) -> Held:
        """See :class:`benchmarks.peers_tool.Tool`."""
        return held_by(self._collection, "file_path")

    @property
    def _kept(self) -> Path:
        return self.store / "pipeline"
