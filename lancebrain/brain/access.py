"""What a facade works with: settings, store, engine and model, each made when first needed."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lancebrain.errors import EmbedderError, IndexMismatchError, LancebrainError

if TYPE_CHECKING:
    from lancebrain.config import Settings
    from lancebrain.embedders import Embedder, EngineOptions, Reranker
    from lancebrain.search import Reranking
    from lancebrain.store import PlannedChange, Storage, Store, StoreInfo, Where
    from lancebrain.sync import Engine
    from lancebrain.types import Mode

_MOST_MODELS = 2
"""In memory at a time: while an index changes its model, both are needed."""


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
        self._stored: tuple[object, Storage] | None = None
        self._given = embedder
        self._loaded: dict[str, Embedder] = {}
        self._reranker: Reranker | None = None
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

        return Store.exists(self.storage())

    def storage(self) -> Storage:
        """Where the index is. One object while the settings are the same, as it keeps what it
        reads for a moment, and who it is for the lock."""
        from lancebrain.store import storage_at

        settings = self.settings
        named = (settings.index, settings.index_uri, settings.storage_options, settings.refresh_s)
        with self._guard:
            if self._stored is None or self._stored[0] != named:
                folder, uri, options, refresh_s = named
                self._stored = (named, storage_at(folder, uri, options, refresh_s=refresh_s))
            return self._stored[1]

    def store(self) -> Store:
        """The index.

        Raises:
            IndexNotFoundError: there is none.
            StoreError: it cannot be opened.
        """
        from lancebrain.store import Store

        with self._guard:
            if self._store is not None and self._store.read_only and not self._is_read_only():
                self.close()
            if self._store is None:
                self._store = Store.open(self.storage(), read_only=self._is_read_only())
                self._store.vector_cache.budget_bytes = self.settings.cache_budget_bytes
            return self._store

    def _is_read_only(self) -> bool:
        folder = self.settings.index
        return folder.is_dir() and not os.access(folder, os.W_OK)

    def made_store(self) -> Store:
        """The index, made if there is none."""
        with self._guard:
            if not self.exists:
                self.close()
                self._store = self._new_store(self.storage(), self.settings.index)
            return self.store()

    def _new_store(self, where: Where, folder: Path) -> Store:
        """A new index, for the configured model, which need not be loaded for it.

        Args:
            where: it is to be.
            folder: what this machine keeps of it.
        """
        from lancebrain.embedders import embedder_spec
        from lancebrain.store import Store
        from lancebrain.sync.learning import reject_learning

        name = self.model_of_new_index
        if not isinstance(where, Path):
            reject_learning(name, where)
        model = self._given_model() or embedder_spec(name, self.options(index=folder))
        return Store.create(where, model=name, fingerprint=model.fingerprint, dim=model.dim)

    @property
    def model_of_new_index(self) -> str:
        """The model that an index begins with which is made now."""
        from lancebrain.embedders.automatic import START

        return START if self.settings.is_auto else self.settings.model

    def options(self, *, index: Path | None = None, fingerprint: str = "") -> EngineOptions:
        """How models are to run, for the registry.

        Args:
            index: the index folder, if it is another than the configured one.
            fingerprint: the version of a model that is wanted.
        """
        from lancebrain.embedders import EngineOptions

        settings = self.settings
        return EngineOptions(
            threads=settings.threads,
            device=settings.model_device,
            backend=settings.model_backend,
            offline=settings.model_offline,
            cache_folder=settings.model_folder,
            trust_remote_code=settings.trust_remote_code,
            url=settings.model_url,
            index=index or settings.index,
            fingerprint=fingerprint,
        )

    def embedder_of(self, info: StoreInfo | PlannedChange) -> Embedder:
        """The model of an index, of one of its versions, or that it is to have; loaded once.

        Raises:
            IndexMismatchError: the model of that name is another one here, whose vectors would
                mean nothing there.
            ModelUnavailableError: it cannot be had now.
            EmbedderError: it cannot be loaded.
        """
        embedder = self._loaded.get(info.fingerprint)
        if embedder is None:
            # Nobody who has a model waits for the loading of another.
            with self._loading:
                embedder = self._loaded.get(info.fingerprint) or self._load_model(info)
        return embedder

    def begin_loading(self, info: StoreInfo) -> None:
        """Load a model beside what is done next; whoever then needs it waits for the rest."""
        if info.fingerprint not in self._loaded:
            threading.Thread(target=self._try_to_load, args=(info,), daemon=True).start()

    def model_for(self, info: StoreInfo, mode: Mode) -> tuple[Embedder | None, tuple[str, ...]]:
        """The model that a question is to be embedded by, and what to say about it.

        Raises:
            EmbedderError: as :meth:`embedder_of`; but where words can answer too, there is none.
        """
        if mode == "keyword":
            return None, ()
        try:
            return self.embedder_of(info), self._about_model(info)
        except EmbedderError as error:
            if mode == "vector":
                raise
            return None, (str(error),)

    def _about_model(self, info: StoreInfo) -> tuple[str, ...]:
        settings = self.settings
        if settings.is_auto or settings.model == info.model:
            return ()
        store = self.store()
        planned = store.plan.read()
        if store.hold.is_set() or (planned is not None and planned.model == settings.model):
            return ()
        return (
            f"The index has the model {info.model!r}, and {settings.model!r} is configured. To "
            f"change it: lancebrain model use {settings.model}",
        )

    def _try_to_load(self, info: StoreInfo) -> None:
        with suppress(LancebrainError):  # told to whoever needs it
            self.embedder_of(info)

    def reranking(self) -> Reranking:
        """How answers are reranked; its model is loaded once.

        Raises:
            EmbedderError: it cannot be loaded, or not be had now.
        """
        from lancebrain.embedders import load_reranker
        from lancebrain.search import Reranking

        with self._loading:
            name = self.settings.reranker
            if self._reranker is None or self._reranker.name != name:
                self._reranker = load_reranker(name, self.options())
        return Reranking(self._reranker, self.settings.rerank_s)

    def load_ahead(self) -> None:
        """Load the model that questions will need, so that none waits for it.

        Raises:
            EmbedderError: as :meth:`embedder_of`.
        """
        if self.exists:
            self.embedder_of(self.store().snapshot().info)

    def _load_model(self, info: StoreInfo | PlannedChange) -> Embedder:
        from lancebrain.embedders import load_embedder

        embedder = self._given_model()
        if embedder is None or embedder.name != info.model:
            embedder = load_embedder(info.model, self.options(fingerprint=info.fingerprint))
        if embedder.fingerprint != info.fingerprint:
            raise IndexMismatchError(
                f"The index in {self.settings.index_name} was made with the model {info.model!r} "
                f"as {info.fingerprint}; here it is {embedder.fingerprint}.",
                hint="Search with --mode keyword, or embed anew: lancebrain model use "
                f"{info.model}",
            )
        while len(self._loaded) >= _MOST_MODELS:
            del self._loaded[next(iter(self._loaded))]
        self._loaded[info.fingerprint] = embedder
        return embedder

    def _given_model(self) -> Embedder | None:
        """The loaded model that is to be used in place of the configured one, if there is one.

        Raises:
            EmbedderError: it is no model.
        """
        if self._given is None:
            return None
        from lancebrain.embedders.custom import checked

        return checked(self.settings.model, self._given)

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
        return self._engine_for(self.store(), **other_settings)

    @contextmanager
    def engine_or_empty(self, **other_settings: object) -> Iterator[Engine]:
        """As :meth:`engine`; where there is no index, that of an empty one that does not stay."""
        if self.exists:
            yield self.engine(**other_settings)
            return
        with tempfile.TemporaryDirectory(prefix="lancebrain-") as folder:
            store = self._new_store(Path(folder), Path(folder))
            yield self._engine_for(store, **other_settings)

    def _engine_for(self, store: Store, **other_settings: object) -> Engine:
        from lancebrain.sync import Engine

        settings = self.settings.model_copy(update=other_settings)
        return Engine(
            store, settings, lambda: self.embedder_of(store.info), planned=self.embedder_of
        )

    def engine_anew(self) -> Engine:
        """Move a table that cannot be read aside, make a new index, and give its engine.

        Nothing of the old table is deleted, and it stays where no new index can be made.

        Raises:
            IndexLockedError: another process is writing.
            StoreError: the folder cannot be written.
        """
        from lancebrain.store import Store
        from lancebrain.store.failures import translated

        with self._guard:
            self.close()
            with (
                translated(self.settings.index, "trying to make a new table"),
                tempfile.TemporaryDirectory(prefix="trial-", dir=self.settings.index) as trial,
            ):
                self._new_store(Path(trial), Path(trial))
            Store.set_aside(self.storage(), timeout_s=self.settings.lock_timeout_s)
            self.made_store()
            return self.engine()

    def close(self) -> None:
        """Let go of what is open."""
        with self._guard:
            if self._store is not None:
                self._store.vector_cache.close()
            self._store = None
            self._engines.clear()
