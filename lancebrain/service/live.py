"""What a server works with: the facade, opened and kept up to the files behind its back.

Requests are answered at once; opening the index, loading the model and following the files go on
beside them. Whatever computes does so in a thread of a bounded number, so that a long piece of
work never keeps a short one waiting.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

import anyio
import anyio.to_thread

from lancebrain.brain import background
from lancebrain.errors import (
    IndexNotFoundError,
    LancebrainError,
    ModelUnavailableError,
    StoreError,
)
from lancebrain.service.courtesy import Courtesy

if TYPE_CHECKING:
    from lancebrain.brain import Brain, Worker
    from lancebrain.types import Problem, SyncReport

_T = TypeVar("_T")
Tell = Callable[[float, str], Awaitable[None]]
Doing = Literal[
    "opening", "loading", "no-model", "failing", "on-demand", "catching-up", "up-to-date"
]
"""What goes on behind the answers, for machines."""

_SENDING_S = 0.05
OPENING_S = 30.0
"""A request waits so long for the index to be opened."""
MODEL_S = 2.0
"""A question waits so long for the model, then it is answered by words alone."""
SETTLE_S = 0.5
"""A question waits so long for changes that were just heard of."""
RETRY_S = 2.0
_MOST_RETRY_S = 60.0
_LAST_STEP_S = 0.5
_QUESTIONS = 4

log = logging.getLogger("lancebrain.service")


class Live:
    """One index behind one server.

    Args:
        brain: the facade; or why there is none, which every request is then told.
        follow: keep the index equal to the files.
        head_start_s: the first answers have the processor to themselves for so long, since
            imports take it whole; :meth:`begin` ends it.

    Attributes:
        model_failure: why the model could not be loaded; None since it is.
        last_error: why the files could not be followed last; None since that went well.
        worker: follows the files; None while there is no index, or nothing to follow.
        is_behind: changes that are known of are not taken in yet.
        is_running: somebody is served.
        changed: wakes who waits for changes of the index; replace it to wait anew.
    """

    def __init__(
        self, brain: Brain | LancebrainError, *, follow: bool = True, head_start_s: float = 0.0
    ) -> None:
        self._brain = brain
        self.model_failure: LancebrainError | None = None
        self.last_error: LancebrainError | None = None
        self.worker: Worker | None = None
        self.is_behind = True
        self.is_running = False
        self.changed = anyio.Event()
        self._follow = follow
        self._head_start_s = head_start_s
        self._failure: LancebrainError | None = None
        self._wanted = anyio.Event()
        self._opened = anyio.Event()
        self._model_ready = anyio.Event()
        self._lagging = anyio.Event()
        self._questions = anyio.CapacityLimiter(_QUESTIONS)
        self._courtesy = Courtesy()
        self._changes = anyio.CapacityLimiter(1)

    async def run(self) -> None:
        """Open, load, follow; ends when it is cancelled."""
        if isinstance(self._brain, LancebrainError):
            self._opened.set()
            return
        brain = self._brain
        with anyio.move_on_after(self._head_start_s):
            await self._wanted.wait()
            await anyio.sleep(_SENDING_S)
        async with anyio.create_task_group() as tasks:
            await self._open(brain)
            tasks.start_soon(self._load, brain)
            if self._follow:
                await self._follow_files(brain)

    def begin(self) -> None:
        """Open and load now: the client has been told what it asks first, or asks for more."""
        self._wanted.set()

    async def opened(self) -> None:
        """Wait until the index is open, or known not to be, however long that takes."""
        await self._opened.wait()

    async def brain(self, tell: Tell | None = None) -> Brain:
        """The facade, once its index is open or known not to exist.

        Args:
            tell: is told of the waiting.

        Raises:
            LancebrainError: it cannot be opened, or not within the time.
        """
        if not self._opened.is_set():
            self.begin()
            if tell is not None:
                await tell(0, "opening the index")
            with anyio.move_on_after(OPENING_S):
                await self._opened.wait()
        if isinstance(self._brain, LancebrainError):
            raise self._brain
        if self._failure is not None:
            raise self._failure
        if not self._opened.is_set():
            raise StoreError("The index is still being opened.", hint="Try again in 10 seconds.")
        return self._brain

    async def has_model(self, tell: Tell | None = None) -> bool:
        """Whether questions can be answered by meaning, after a short wait if need be."""
        if not self._model_ready.is_set() and self.model_failure is None:
            if tell is not None:
                await tell(0, "loading the model")
            with anyio.move_on_after(MODEL_S):
                await self._model_ready.wait()
        return self._model_ready.is_set()

    @property
    def is_ready(self) -> bool:
        """Everything is opened and loaded."""
        return self._model_ready.is_set()

    @property
    def doing(self) -> Doing:
        """What goes on."""
        if not self._opened.is_set():
            return "opening"
        if self.model_failure is not None:
            return "no-model"
        if not self._model_ready.is_set():
            return "loading"
        if self.last_error is not None:
            return "failing"
        if not self._follow:
            return "on-demand"
        worker = self.worker
        is_behind = worker is not None and (self.is_behind or worker.is_behind)
        return "catching-up" if is_behind else "up-to-date"

    async def settle(self) -> bool:
        """Let changes that were just heard of be taken in; whether they are."""
        worker = self.worker
        if worker is None:
            return not self._follow  # who is yet to follow them may not have heard of a change
        if self.is_behind:
            return False
        with anyio.move_on_after(SETTLE_S):
            return await worker.settle()
        self.is_behind = True
        self._lagging.set()
        return False

    async def ask(self, question: Callable[..., _T], *arguments: object) -> _T:
        """Compute something in a thread; several at a time, and left alone when cancelled."""

        def answer() -> _T:
            with self._courtesy.asking():
                return question(*arguments)

        return await anyio.to_thread.run_sync(
            answer, limiter=self._questions, abandon_on_cancel=True
        )

    async def change(self, work: Callable[..., _T], *arguments: object) -> _T:
        """The same for what writes, one at a time; it is not left half-way when cancelled."""
        done = await anyio.to_thread.run_sync(
            partial(work, *arguments), limiter=self._changes, abandon_on_cancel=True
        )
        self.note_change()
        return done

    def note_change(self) -> None:
        """The index may have changed: wake who tells of it."""
        self.changed.set()

    async def _open(self, brain: Brain) -> None:
        try:
            await self._aside(background.open_ahead, brain)
        except LancebrainError as error:
            log.warning("The index cannot be opened: %s", error)
            if not isinstance(error, IndexNotFoundError):
                self._failure = error
        except Exception as error:  # a mistake of ours must not end the server
            log.exception("Opening the index failed")
            self._failure = StoreError(f"The index cannot be opened ({type(error).__name__}).")
        self._opened.set()

    async def _load(self, brain: Brain) -> None:
        """Load the model, then what writes; a model that cannot be had now is tried again until it
        can."""
        pause_s = RETRY_S
        is_due = await self._is_load_due(brain)
        if self._follow:
            await self._open_to_write(brain)
        while is_due:
            await anyio.sleep(pause_s)
            pause_s = min(pause_s * 2, _MOST_RETRY_S)
            is_due = await self._is_load_due(brain)

    async def _open_to_write(self, brain: Brain) -> None:
        try:
            await self._aside(background.open_to_write, brain)
        except LancebrainError as error:  # of which the first edit tells again
            log.warning("Nothing can be written now: %s", error)
        except Exception:  # a mistake of ours must not end the server
            log.exception("Opening the index to write failed")

    async def _is_load_due(self, brain: Brain) -> bool:
        """Load the model; whether it is worth another try."""
        try:
            await self._aside(background.load_ahead, brain)
        except LancebrainError as error:
            log.warning("The model cannot be loaded: %s", error)
            self.model_failure = error
            return isinstance(error, ModelUnavailableError)
        except Exception as error:  # as above
            log.exception("Loading the model failed")
            self.model_failure = StoreError(f"It failed with {type(error).__name__}.")
            return True
        self.model_failure = None
        self._model_ready.set()
        return False

    async def _follow_files(self, brain: Brain) -> None:
        """Follow until it is cancelled; a mistake of ours in it is logged, and it begins again."""
        pause_s = RETRY_S
        while True:
            worker = await self._new_worker(brain)
            self.worker, self.is_behind, self.last_error = worker, True, None
            try:
                await self._work(worker)
            except Exception as error:
                log.exception("Following the files failed")
                self.last_error = StoreError(f"It failed with {type(error).__name__}.")
            finally:
                self.worker = None
            await anyio.sleep(pause_s)
            pause_s = min(pause_s * 2, _MOST_RETRY_S)

    async def _new_worker(self, brain: Brain) -> Worker:
        """What follows the files, as soon as there is an index that may be written."""
        while True:
            try:
                if await self._aside(background.open_ahead, brain):
                    self._failure = None
                    self._follow = not await self._aside(background.is_read_only, brain)
                    if self._follow:
                        return await self._aside(
                            partial(
                                background.worker_of,
                                brain,
                                on_report=self._done,
                                on_error=self._failed,
                                on_problem=self._heard,
                                give_way=self._courtesy.give_way,
                                is_asked=self._courtesy.is_asked,
                            )
                        )
                    self.last_error = None
            except LancebrainError as error:
                self.last_error = error
            except Exception as error:  # as above
                log.exception("Following the files could not begin")
                self.last_error = StoreError(f"It failed with {type(error).__name__}.")
            await anyio.sleep(RETRY_S)

    async def _work(self, worker: Worker) -> None:
        """Run a worker, and know when the index is behind the files no more, again and again."""
        # Cancelling a step would leave its thread at work: it is asked to end, and given time.
        at_work = anyio.CancelScope(shield=True)

        async def work() -> None:
            with at_work:
                await worker.run()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            try:
                while True:
                    self._lagging = anyio.Event()
                    self.is_behind = not await worker.settle()
                    await self._lagging.wait()
            finally:
                worker.stop()
                at_work.deadline = anyio.current_time() + _LAST_STEP_S

    def _done(self, report: SyncReport) -> None:
        self.last_error = None
        self.note_change()

    def _failed(self, error: LancebrainError) -> None:
        log.warning("Changes could not be taken in: %s", error)
        self.last_error = error

    def _heard(self, problem: Problem) -> None:
        log.warning("Texts lack their vectors: %s", problem.message)

    async def _aside(self, work: Callable[..., _T], *arguments: object) -> _T:
        return await anyio.to_thread.run_sync(
            partial(work, *arguments), limiter=anyio.CapacityLimiter(1), abandon_on_cancel=True
        )
