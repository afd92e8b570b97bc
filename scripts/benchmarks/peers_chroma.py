"""The plain way: each file that an event names is deleted from a Chroma collection, and added."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path

import chromadb
from chromadb.config import Settings
from langchain_text_splitters import RecursiveCharacterTextSplitter
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from benchmarks.peers_tool import Held
from lancebrain.embedders import Embedder

# What Chroma takes at once.
_BATCH = 5_000
_PATIENCE_S = 600


def client_of(store: Path) -> chromadb.ClientAPI:
    """Chroma in a folder, for whoever keeps its texts there."""
    return chromadb.PersistentClient(str(store), Settings(anonymized_telemetry=False))


def held_by(collection: chromadb.Collection, key: str) -> Held:
    """The texts of a collection; ``key`` is the field that says the file."""
    found = collection.get(include=["documents", "metadatas"])
    return Held(
        (str(about[key]), text)
        for about, text in zip(found["metadatas"], found["documents"], strict=True)
        if text.strip()
    )


def splitter() -> RecursiveCharacterTextSplitter:
    """As LangChain's documentation and most tutorials have it."""
    return RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200)


class WatchedChroma(FileSystemEventHandler):  # type: ignore[misc]
    """Watchdog's events, every one of them acted on at once; all files when it starts."""

    name = "Chroma on watchdog's events"

    def __init__(self, root: Path, store: Path, model: Embedder) -> None:
        self.root = root
        self.store = store
        self._model = model
        self._splitter = splitter()
        self._seconds = 0.0
        self._marks = itertools.count()
        self._mark = ""
        self._is_marked = threading.Event()

    def start(self) -> float:
        """See :class:`benchmarks.peers_tool.Tool`."""
        started = time.perf_counter()
        self._collection = client_of(self.store).get_or_create_collection(
            "notes", embedding_function=None
        )
        for file in sorted(self.root.rglob("*.md")):
            self._index(str(file))
        self._observer = Observer()
        self._observer.schedule(self, str(self.root), recursive=True)
        self._observer.start()
        return time.perf_counter() - started

    def settle(self) -> float:
        """Wait until the event of a last file has come, which is after all others."""
        self._is_marked.clear()
        self._mark = str(self.root / f"mark-{next(self._marks)}")
        Path(self._mark).touch()
        if not self._is_marked.wait(_PATIENCE_S):
            raise TimeoutError("The events have ceased.")
        Path(self._mark).unlink()
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    def stop(self) -> None:
        """See :class:`benchmarks.peers_tool.Tool`."""
        self._observer.stop()
        self._observer.join()

    def held(self) -> Held:
        """See :class:`benchmarks.peers_tool.Tool`."""
        return held_by(self._collection, "source")

    def on_created(self, event: FileSystemEvent) -> None:
        """Watchdog tells of a new file or folder."""
        if event.src_path == self._mark:
            self._is_marked.set()
        self._take_in(event.src_path)

    def on_modified(self, event: FileSystemEvent) -> None:
        """Watchdog tells of a file that was written to."""
        self._take_in(event.src_path)

    def on_moved(self, event: FileSystemEvent) -> None:
        """Watchdog tells of a file with a new name, also of each in a folder that has one."""
        self._take_in(event.src_path)
        self._take_in(event.dest_path)

    def on_deleted(self, event: FileSystemEvent) -> None:
        """Watchdog tells of a file that is gone."""
        self._take_in(event.src_path)

    def _take_in(self, name: str) -> None:
        started = time.perf_counter()
        if name.endswith(".md"):
            self._index(name)
        self._seconds += time.perf_counter() - started

    def _index(self, name: str) -> None:
        self._collection.delete(where={"source": name})
        try:
            chunks = self._splitter.split_text(Path(name).read_text())
        except FileNotFoundError:
            return
        for at in range(0, len(chunks), _BATCH):
            texts = chunks[at : at + _BATCH]
            self._collection.add(
                ids=[f"{name}-{at + number}" for number in range(len(texts))],
                documents=texts,
                embeddings=self._model.embed_passages(texts),
                metadatas=[{"source": name}] * len(texts),
            )
