"""What a facade works with: settings, store, engine and model, each made when first needed."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lancebrain.errors import IndexMismatchError

if TYPE_CHECKING:
    from lancebrain.config import Settings
    from lancebrain.embedders import Embedder
    from lancebrain.store import Store
    from lancebrain.sync import Engine


class Access:
    """Opens, loads and keeps; safe to use from several threads.

    Args:
        load: reads the settings.
        embedder: a loaded model in place of the configured one.

    Attributes:
        settings: as last read.
    """

    def __init__(self, load: Callable[[], Settings], embedder: Embedder | None) -> None:
        self.settings = load()
        self._load = load
        self._guard = threading.RLock()
        self._loading = threading.Lock()
        self._store: Store | None = None
        self._embedder = embedder
        self._engines: dict[tuple[object, ...], Engine] = {}

    def reload(self) -> Settings:
        """The settings, read again: the sources may have changed."""
        with self._guard:
            settings = self._load()
            if settings != self.settings:
                self.settings = settings
                self._engines.clear()
            return self.settings

    @property
    def exists(self) -> bool:
        """Whether there is an index."""
        from lancebrain.store import Store

        return Store.exists(self.settings.index)

    def store(self) -> Store:
        """The index.

        Raises:
            IndexNotFoundError: there is none.
            StoreError: it cannot be opened.
        """
        from lancebrain.store import Store

        with self._guard:
            if self._store is None:
                folder = self.settings.index
                read_only = folder.is_dir() and not os.access(folder, os.W_OK)
                self._store = Store.open(folder, read_only=read_only)
            return self._store

    def made_store(self) -> Store:
        """The index, made if there is none."""
        with self._guard:
            if not self.exists:
                self.close()
                self._store = self.new_store(self.settings.index)
            return self.store()

    def new_store(self, folder: Path) -> Store:
        """A new index in a folder, for the configured model, which need not be loaded for it."""
        from lancebrain.embedders import embedder_spec
        from lancebrain.store import Store

        model = self._embedder or embedder_spec(self.settings.model)
        return Store.create(
            folder, model=self.settings.model, fingerprint=model.fingerprint, dim=model.dim
        )

    def embedder(self) -> Embedder:
        """The model, loaded once.

        Raises:
            EmbedderError: it cannot be loaded.
        """
        from lancebrain.embedders import EngineOptions, load_embedder

        with self._loading:
            if self._embedder is None:
                self._embedder = load_embedder(
                    self.settings.model, EngineOptions(threads=self.settings.threads)
                )
            return self._embedder

    def embedder_for(self, store: Store) -> Embedder:
        """The model, if it is the one that the index was made with.

        Raises:
            IndexMismatchError: it is another one, whose vectors would mean nothing there.
        """
        embedder = self.embedder()
        if embedder.fingerprint != store.info.fingerprint:
            raise IndexMismatchError(
                f"The index in {store.folder} was made with the model {store.info.model!r} "
                f"({store.info.fingerprint}); configured is {self.settings.model!r} "
                f"({embedder.fingerprint}).",
                hint="Search with --mode keyword, or set model to that of the index.",
            )
        return embedder

    def engine(self, **other_settings: object) -> Engine:
        """What syncs the index; the same one while the settings are.

        Args:
            other_settings: in place of those of the same name; hashable.

        Raises:
            IndexNotFoundError, StoreError: as :meth:`store`.
        """
        with self._guard:
            key = tuple(other_settings.items())
            if key not in self._engines:
                self._engines[key] = self.own_engine(**other_settings)
            return self._engines[key]

    def own_engine(self, **other_settings: object) -> Engine:
        """As :meth:`engine`, but one that nobody else has."""
        from lancebrain.sync import Engine

        settings = self.settings.model_copy(update=other_settings)
        return Engine(self.store(), settings, self.embedder)

    @contextmanager
    def engine_or_empty(self, **other_settings: object) -> Iterator[Engine]:
        """As :meth:`engine`; where there is no index, that of an empty one that does not stay."""
        from lancebrain.sync import Engine

        if self.exists:
            yield self.engine(**other_settings)
            return
        with tempfile.TemporaryDirectory(prefix="lancebrain-") as folder:
            settings = self.settings.model_copy(update=other_settings)
            yield Engine(self.new_store(Path(folder)), settings, self.embedder)

    def engine_anew(self) -> Engine:
        """Move a table that cannot be read aside, make a new index, and give its engine.

        Nothing of the old table is deleted.

        Raises:
            IndexLockedError: another process is writing.
            StoreError: the folder cannot be written.
        """
        from lancebrain.store import Store

        with self._guard:
            self.close()
            Store.set_aside(self.settings.index, timeout_s=self.settings.lock_timeout_s)
            self.made_store()
            return self.engine()

    def close(self) -> None:
        """Let go of what is open."""
        with self._guard:
            if self._store is not None:
                self._store.vector_cache.close()
            self._store = None
            self._engines.clear()
