"""Files parsed and texts embedded by workers on a Ray cluster. The only place that knows Ray.

Each worker is an actor that can do both; whoever is free gets the next batch of texts, or where
there is none yet, the next group of files. Ray starts a worker again that died, and gives it again
what it had not finished.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lancebrain.errors import EmbedderError, LancebrainError
from lancebrain.types import Progress, SourceFile

from .ahead import Batches, ParsedGroup, groups, parse_group
from .documents import Parsed, at_place, parse
from .reading import Reading
from .vectors import embedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lancebrain.config import Settings
    from lancebrain.embedders import EngineOptions
    from lancebrain.store import Store

_AHEAD = 2
"""Tasks that a worker has at a time, so that it need not wait for the next."""
_LEAST_TEXTS = 4
"""Of a batch; with fewer, handing them out takes as long as embedding them."""
_POLL_S = 0.5
_OPENED_GROUPS = 4


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the workers are.

    Attributes:
        address: of a running cluster; None: the one that the environment names, else one that
            is made on this machine.
        workers: how many; None: one for each processor of the cluster.
    """

    address: str | None = None
    workers: int | None = None


class RayAhead:
    """What a cluster made of files; see :class:`lancebrain.sync.ahead.Ahead`."""

    def __init__(self) -> None:
        self._group_of: dict[str, Any] = {}
        self._opened: dict[Any, ParsedGroup] = {}

    def add(self, files: Sequence[SourceFile], group: Any) -> None:
        """Note where the cluster keeps what it made of some files."""
        self._group_of |= dict.fromkeys((file.path for file in files), group)

    def parse(self, file: SourceFile, reading: Reading, settings: Settings) -> Parsed:
        """What the cluster made of these very bytes; else what is made of them here."""
        found = self._group(file.path)
        made = found.parsed.get(file.path) if found else None
        if made is None or made[0] != reading.sha256:
            return parse(file, reading, settings)
        parsed = made[1]
        return Parsed(at_place(parsed.state, file, reading), parsed.chunks)

    def _group(self, path: str) -> ParsedGroup | None:
        import ray

        group = self._group_of.get(path)
        if group is None:
            return None
        if group not in self._opened:
            if len(self._opened) >= _OPENED_GROUPS:
                del self._opened[next(iter(self._opened))]
            try:
                self._opened[group] = ray.get(group)
            except ray.exceptions.RayError:
                return None  # its machine is gone: the file is here, and is parsed here
        return self._opened[group]


@contextmanager
def prepared(
    store: Store,
    settings: Settings,
    options: EngineOptions,
    files: Sequence[SourceFile],
    cluster: Cluster,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[RayAhead]:
    """Have files parsed and their texts embedded; what comes of it lasts for the block.

    Vectors go into the cache of the index as they come, which grows beyond its budget meanwhile.

    Raises:
        EmbedderError: the model cannot be loaded by the workers.
        LancebrainError: Ray is not installed, or its cluster cannot be reached.
    """
    ray = _ray()
    info = store.snapshot().info
    started_here = not ray.is_initialized()
    if started_here:
        _start(ray, cluster.address)
    ahead = RayAhead()
    cache = store.vector_cache
    budget_bytes, cache.budget_bytes = cache.budget_bytes, None
    try:
        known = cache.hashes(info.fingerprint) | store.snapshot().embedded_hashes()
        workers = cluster.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        device = (options.device or "").partition(":")[0]
        worker = ray.remote(
            num_cpus=1,
            num_gpus=1 if device == "cuda" else 0,
            max_restarts=-1,
            max_task_retries=-1,
        )(_Worker)
        actors = [worker.remote(info.model, options, info.dim, settings) for _ in range(workers)]
        done = 0
        batches = Batches(known)
        for kind, what, result in _driven(ray, actors, files, batches):
            if kind == "files":
                ahead.add(what, result)
                continue
            hashes, vectors = result
            cache.put(info.fingerprint, hashes, vectors)
            done += len(what)
            if progress is not None:
                progress(Progress("embed", chunks=done, chunks_total=batches.texts_total))
        for actor in actors:
            ray.kill(actor)
        yield ahead
    finally:
        cache.budget_bytes = budget_bytes
        if started_here:
            ray.shutdown()


def _driven(
    ray: Any,
    actors: Sequence[Any],
    files: Sequence[SourceFile],
    batches: Batches,
) -> Iterator[tuple[str, Any, Any]]:
    """Keep the workers busy until all is done, and tell what each has done.

    Yields:
        ``files``, the files, and where what came of them is; or ``texts``, these, and their
        hashes and vectors.
    """
    parsing = deque(groups(files))
    embedding: deque[dict[str, str]] = deque()
    load = dict.fromkeys(range(len(actors)), 0)
    under_way: dict[Any, tuple[int, str, Any, Any]] = {}
    to_parse = len(parsing)
    while True:
        embedding.extend(batches.ready(all_there=to_parse == 0))
        if not (parsing or embedding or under_way):
            return
        while (embedding or parsing) and min(load.values()) < _AHEAD:
            number = min(load, key=load.__getitem__)
            if embedding:
                texts = next_batch(embedding, len(actors), is_end=to_parse == 0)
                ref = actors[number].embed.remote(texts)
                under_way[ref] = (number, "texts", texts, None)
            else:
                some = parsing.popleft()
                group, texts_ref = actors[number].parse.options(num_returns=2).remote(some)
                under_way[texts_ref] = (number, "files", some, group)
            load[number] += 1
        finished, _ = ray.wait(list(under_way), num_returns=1, timeout=_POLL_S)
        for ref in finished:
            number, kind, what, group = under_way.pop(ref)
            load[number] -= 1
            result = _got(ray, ref)
            if kind == "files":
                to_parse -= 1
                batches.add(result)
                yield kind, what, group
            else:
                yield kind, what, result


def next_batch(embedding: deque[dict[str, str]], workers: int, *, is_end: bool) -> dict[str, str]:
    """Texts for a worker: towards the end ever fewer, so that all end at about the same time
    (guided self-scheduling: Polychronopoulos and Kuck, IEEE Transactions on Computers C-36, 1987).
    """
    texts = embedding.popleft()
    left = len(texts) + sum(map(len, embedding))
    count = max(_LEAST_TEXTS, -(-left // (2 * workers)))
    if is_end and count + _LEAST_TEXTS <= len(texts):
        items = list(texts.items())
        texts = dict(items[:count])
        embedding.appendleft(dict(items[count:]))
    return texts


def _got(ray: Any, ref: Any) -> Any:
    try:
        return ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, LancebrainError):
            raise cause from None
        raise EmbedderError(
            f"A worker failed: {cause}", hint="Run it again; what was embedded is kept."
        ) from error
    except ray.exceptions.RayError as error:
        raise LancebrainError(
            f"The cluster cannot go on: {str(error).splitlines()[0]}",
            hint="Run it again; what was embedded is kept.",
        ) from error


class _Worker:
    """Parses files and embeds texts, one thing at a time; loads the model for the first text."""

    def __init__(self, model: str, options: EngineOptions, dim: int, settings: Settings) -> None:
        self._model = model
        self._options = options
        self._dim = dim
        self._settings = settings
        self._embedder: Any = None

    def parse(self, files: Sequence[SourceFile]) -> tuple[ParsedGroup, Mapping[str, str]]:
        group = parse_group(files, self._settings, time.time_ns())
        return ParsedGroup(group.parsed, {}), group.texts

    def embed(self, texts: Mapping[str, str]) -> tuple[list[str], NDArray[np.float32]]:
        """Hashes and vectors; a text that the model fails on is left out."""
        if self._embedder is None:
            from lancebrain.embedders import load_embedder

            self._embedder = load_embedder(self._model, self._options)
        try:
            vectors = embedded(self._embedder, texts, self._dim)
        except EmbedderError:
            vectors = {}
            for chunk_hash, text in texts.items():
                try:
                    vectors |= embedded(self._embedder, {chunk_hash: text}, self._dim)
                except EmbedderError:
                    continue  # the filling in that follows tries again, and tells
        if not vectors:
            return [], np.zeros((0, self._dim), np.float32)
        return list(vectors), np.stack(list(vectors.values()))


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise LancebrainError(
            "Ray is not installed.", hint="Install it: pip install 'lancebrain[ray]'"
        ) from None
    return ray


def _start(ray: Any, address: str | None) -> None:
    # One that is made here is for this machine alone.
    alone = {} if address else {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        with warnings.catch_warnings():
            # Ray's processes are other programs at once: nothing of Lance goes on in them.
            warnings.filterwarnings("ignore", "lancedb fork support", RuntimeWarning)
            warnings.filterwarnings("ignore", "lance is not fork-safe", UserWarning)
            ray.init(
                address=address,
                **alone,
                log_to_driver=False,
                configure_logging=False,
                namespace=f"lancebrain-{time.time_ns()}",
            )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise LancebrainError(
            f"The Ray cluster {address or 'on this machine'} cannot be reached: "
            f"{str(error).splitlines()[0]}",
            hint="See to it that it runs (`ray status`), or leave --address out.",
        ) from error
