"""The map: every chunk a point, what is alike near each other.

Its points are sent as numbers in one piece, since as JSON they would take ten times as long:
four bytes with the length of a JSON header, the header, zeros up to a multiple of eight, then,
one array after the other and little-endian, ``chunk_index`` (float64), the document's number in
the header (uint32), ``x`` and ``y`` (uint16 each, from left to right and from top to bottom).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from lancebrain.machine import to_json
from lancebrain.web.asked import text_of
from lancebrain.web.behind import behind, live_of
from lancebrain.web.speaking import Json

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from starlette.requests import Request

    from lancebrain.brain import Brain

_SIDE = 65_535
_WORDS_A_TOPIC = 2
_ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class Topic:
    """What a group of points is about.

    Attributes:
        words: that tell it from the others.
        count: of its points.
        x, y: their middle, as of a point.
    """

    words: Sequence[str]
    count: int
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class MapHeader:
    """What stands before the points.

    Attributes:
        version: of the index that the map is of.
        count: of the points.
        documents: paths, in the order of their numbers; the source is a path's first part.
        titles, domains: of the documents, likewise.
        topics: what large groups of points are about.
    """

    version: int
    count: int
    documents: Sequence[str]
    titles: Sequence[str]
    domains: Sequence[str]
    topics: Sequence[Topic]


def draw_map(brain: Brain, version: int) -> bytes:
    """The map of the newest version, packed; takes seconds where there are many chunks."""
    import numpy as np
    import pyarrow.compute as pc

    found = brain.analyze.map()
    chunks = found.table
    coded = pc.dictionary_encode(chunks["path"].combine_chunks())
    numbers = coded.indices.to_numpy(zero_copy_only=False).astype("<u4")
    first_rows = np.unique(numbers, return_index=True)[1]
    places = np.stack([_on_side(chunks[axis].to_numpy()) for axis in ("x", "y")], axis=1)
    header = MapHeader(
        version=version,
        count=len(chunks),
        documents=coded.dictionary.to_pylist(),
        titles=_titles(brain, coded.dictionary.to_pylist()),
        domains=chunks["domain"].take(first_rows).to_pylist(),
        topics=_topics(found.chart.colour_names, chunks["topic"].to_numpy(), places),
    )
    return _packed(header, chunks["chunk_index"], numbers, places)


def _titles(brain: Brain, paths: Sequence[str]) -> list[str]:
    documents = brain.documents(("path", "title"))
    titles = dict(zip(documents["path"].to_pylist(), documents["title"].to_pylist(), strict=True))
    return [titles.get(path) or "" for path in paths]


def _topics(
    names: Sequence[str], topic_of: NDArray[np.int64], places: NDArray[np.uint16]
) -> list[Topic]:
    """Topics where most of their points are; a point's topic counts from 1."""
    import numpy as np

    topics = []
    for number, name in enumerate(names, 1):
        own = places[topic_of == number]
        if len(own):
            x, y = np.median(own, axis=0).round().astype(int).tolist()
            topics.append(Topic(name.split(", ")[:_WORDS_A_TOPIC], len(own), x, y))
    return topics


def _on_side(places: NDArray[np.float32]) -> NDArray[np.uint16]:
    on_side: NDArray[np.uint16] = ((places + 1) / 2 * _SIDE).round().clip(0, _SIDE).astype("<u2")
    return on_side


def _packed(
    header: MapHeader,
    chunk_indexes: pa.ChunkedArray,
    documents: NDArray[np.uint32],
    places: NDArray[np.uint16],
) -> bytes:
    told = to_json(header).encode("utf-8", "replace")
    told += b" " * (-(len(told) + 4) % _ALIGNMENT)
    return b"".join(
        (
            struct.pack("<I", len(told)),
            told,
            chunk_indexes.to_numpy().astype("<f8").tobytes(),
            documents.tobytes(),
            places[:, 0].tobytes(),
            places[:, 1].tobytes(),
        )
    )


async def _map(request: Request) -> Response:
    live = live_of(request)
    drawn = await live.ask(behind(request).map.of_now, await live.brain())
    return Response(drawn, media_type="application/octet-stream")


async def _passage(request: Request) -> Json:
    """One chunk, for a point that is pointed at."""
    live = live_of(request)
    brain = await live.brain()
    return Json(await live.ask(_shown, brain, text_of(request.query_params, "id")))


def _shown(brain: Brain, chunk: str) -> object:
    return brain.show(chunk, look=False)


ROUTES = (Route("/api/map", _map), Route("/api/passage", _passage))
