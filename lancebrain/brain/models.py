"""The part of the facade that knows models: which there are, what they cost, which is used."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lancebrain.brain.modelfacts import ModelChange, ModelEntry, ModelState
from lancebrain.errors import EmbedderError, IndexNotFoundError, UsageError
from lancebrain.types import Problem, Progress

if TYPE_CHECKING:
    from lancebrain.brain.access import Access
    from lancebrain.config import Settings
    from lancebrain.embedders.measuring import Cost
    from lancebrain.store import PlannedChange, Store
    from lancebrain.sync.automatic import Advice

_BENCHED_TEXTS = 300


class Models:
    """Which models there are, what each costs, and changing to another."""

    _access: Access

    if TYPE_CHECKING:

        @property
        def settings(self) -> Settings:
            """What holds now."""

    def models(self) -> list[ModelEntry]:
        """The engines that ship with the package, and the model of the index."""
        from lancebrain.embedders import engines

        used = self._access.store().snapshot().info.model if self._access.exists else ""
        entries = []
        for name, about in engines().items():
            in_use = used.partition(":")[0] == name
            shown = f"{name}:{about.variants}" if about.needs_variant else name
            entries.append(
                ModelEntry(
                    used if in_use else shown,
                    about.summary,
                    not about.missing,
                    about.install,
                    in_use,
                    about.needs_network,
                )
            )
        if used and not any(entry.in_use for entry in entries):
            entries.append(ModelEntry(used, "Your own.", True, "", True, False))
        return entries

    def model(self) -> ModelState:
        """The model of the index, and the one that it is on its way to.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
        """
        store = self._access.store()
        snapshot = store.snapshot()
        info = snapshot.info
        weight, languages = self._known_of(info.model)
        planned = store.plan.read()
        state = ModelState(
            model=info.model,
            fingerprint=info.fingerprint,
            dim=info.dim,
            fusion_weight=weight,
            languages=languages,
            chunks=snapshot.chunk_count(),
            pending=snapshot.pending(),
            configured=self.settings.model,
        )
        if planned is None:
            return state
        every = snapshot.chunk_hashes()
        done = len(every & store.staged.hashes(planned.fingerprint))
        return replace(state, next_model=planned.model, next_done=done, next_total=len(every))

    def use_model(
        self,
        name: str,
        *,
        now: bool = False,
        progress: Callable[[Progress], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> ModelChange:
        """Change the index to another model; questions are answered all the while.

        The old model answers until the new one has a vector of every chunk. Stopped, it goes on
        where it was: when this is called again, or in a process that stays.

        Args:
            name: of the model.
            now: switch at once; what has no vector yet is found by its words alone until it has.
            progress: is told how far it has come.
            cancel: when set, it ends after the part it is at.

        Raises:
            UsageError: there is no such model, the index is pinned, or another model is set
                where this cannot change it.
            IndexNotFoundError: nothing was indexed yet.
            EmbedderError: the model cannot be had, or fails; what it gave is kept.
            IndexLockedError: another process held the lock for longer than the settings allow.
        """
        from lancebrain.sync.migration import plan_change, switch_now

        started = time.monotonic()
        store = self._opened_for(name)
        timeout_s = self.settings.lock_timeout_s
        before = store.snapshot().info
        planned = self._planned(store, name)
        embedded = 0
        problems: tuple[Problem, ...] = ()
        if planned.fingerprint != before.fingerprint:
            self._access.embedder_of(planned)  # if it cannot be had, nothing is changed
            plan_change(store, planned, lock_timeout_s=timeout_s)
            self._configure(name)
            engine = self._access.engine()
            if now:
                switch_now(store, planned, lock_timeout_s=timeout_s)
                embedded, problems = engine.fill(progress=progress, cancel=cancel)
            else:
                try:
                    embedded = engine.migrate(progress=progress, cancel=cancel).embedded
                except EmbedderError as error:
                    stay = f"To stay with {before.model}: lancebrain model cancel"
                    error.hint = f"{error.hint} {stay}".strip()
                    raise
        else:
            self.keep_model()
            self._configure(name)
        snapshot = store.snapshot()
        return ModelChange(
            before=before.model,
            model=snapshot.info.model,
            done=snapshot.info.fingerprint == planned.fingerprint,
            embedded=embedded,
            pending=snapshot.pending(),
            version=snapshot.version,
            seconds=time.monotonic() - started,
            problems=problems,
        )

    def keep_model(self) -> str:
        """Give up a change that is under way; the name of the model that it was to, or "".

        What the other model gave so far is kept for another time.
        """
        from lancebrain.sync.migration import give_up_change

        store = self._access.store()
        planned = give_up_change(store, lock_timeout_s=self.settings.lock_timeout_s)
        if planned is not None and self.settings.model == planned.model:
            self._configure(store.snapshot().info.model)
        return "" if planned is None else planned.model

    def settle_model(self) -> Advice | None:
        """Decide on the model, where that is left to the index; what was decided just now.

        Raises:
            EmbedderError: the better model is there and does not work.
            IndexLockedError: another process held the lock for longer than the settings allow.
        """
        return self._access.engine().settle_model() if self._access.exists else None

    def bench_models(
        self, names: Sequence[str] = (), *, seconds: float = 60.0
    ) -> Iterator[tuple[str, Cost | EmbedderError]]:
        """What models cost here, on passages of the index.

        Args:
            names: of models; by default that of the index, and all that need no network.
            seconds: about how long all of it may take, but for loading.

        Yields:
            Each name with what was measured, or why it could not be.

        Raises:
            IndexNotFoundError: nothing was indexed yet.
            UsageError: there is no such model, or no passage to measure on.
        """
        from lancebrain.embedders import about_engine
        from lancebrain.embedders.measuring import measure
        from lancebrain.sync.embedding import sample_texts

        wanted = list(names) or self._at_hand()
        for name in wanted:
            about_engine(name)
        snapshot = self._access.store().snapshot()
        texts = [text for _, text in sample_texts(snapshot, _BENCHED_TEXTS)]
        if not texts:
            raise UsageError("There is no passage in the index to measure on.")
        options = self._access.options()
        counts = [options.threads]
        cores = os.cpu_count() or 1
        if cores > 1 and cores not in counts:
            counts.append(cores)
        each_s = seconds / (len(wanted) * len(counts))
        for name in wanted:
            for threads in counts:
                try:
                    with_threads = replace(options, threads=threads)
                    yield name, measure(name, texts, with_threads, seconds=each_s)
                except EmbedderError as error:
                    yield name, error
                    break

    def _at_hand(self) -> list[str]:
        used = [entry.name for entry in self.models() if entry.in_use]
        ready = [
            entry.name
            for entry in self.models()
            if entry.installed and not entry.needs_network and not entry.in_use
        ]
        return used + ready

    def _known_of(self, model: str) -> tuple[float | None, tuple[str, ...]]:
        from lancebrain.embedders import embedder_spec

        try:
            spec = embedder_spec(model, self._access.options())
        except (EmbedderError, UsageError):
            return None, ()
        return spec.fusion_weight, tuple(sorted(spec.languages))

    def _opened_for(self, name: str) -> Store:
        """The index, if this model may be used for it."""
        from lancebrain.embedders import about_engine

        if name == "auto":
            raise UsageError(
                "auto is no model: it leaves the choice to the index.",
                hint="Name a model: lancebrain model list",
            )
        about_engine(name)
        if not self._access.exists:
            raise IndexNotFoundError(
                f"There is no index in {self.settings.index_name} whose model could be changed.",
                hint=f'Write model = "{name}" into lancebrain.toml, then: lancebrain sync FOLDER',
            )
        settings = self._access.reload()
        if not (settings.is_auto or settings.model == name) and not self._is_in_file(settings):
            raise UsageError(
                f"The model {settings.model!r} is set by LANCEBRAIN_MODEL, or by the program.",
                hint=f"Set it to {name!r} there, then do this again.",
            )
        return self._access.store()

    def _planned(self, store: Store, name: str) -> PlannedChange:
        """The change to a model; one that learns from the texts learns them now."""
        from lancebrain.embedders import embedder_spec, learns
        from lancebrain.store import PlannedChange
        from lancebrain.sync.learning import learned

        under_way = store.plan.read()
        goes_on = under_way is not None and under_way.model == name
        if learns(name):
            if under_way is not None and goes_on and self._is_kept(under_way):
                return under_way
            return learned(store, name)
        spec = embedder_spec(name, self._access.options())
        if under_way is not None and goes_on and under_way.fingerprint == spec.fingerprint:
            return under_way
        return PlannedChange(name, spec.fingerprint, spec.dim, datetime.now(UTC))

    def _is_kept(self, planned: PlannedChange) -> bool:
        """Whether what the model learned is still there."""
        try:
            self._access.embedder_of(planned)
        except EmbedderError:
            return False
        return True

    def _is_in_file(self, settings: Settings) -> bool:
        from lancebrain.config.files import read_toml

        file = settings.config_file
        return file is not None and read_toml(file).get("model") == settings.model

    def _configure(self, name: str) -> None:
        """Write the model into the configuration file, if that names another."""
        from lancebrain.config import set_model_in_config

        settings = self.settings
        if settings.is_auto or settings.model == name or settings.config_file is None:
            return
        set_model_in_config(settings.config_file, name)
        self._access.reload()
