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
_ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class MapHeader:
    """What stands before the points.

    Attributes:
        version: of the index that the map is of.
        count: of the points.
        documents: paths, in the order of their numbers; the source is a path's first part.
        titles, domains: of the documents, likewise.
    """

    version: int
    count: int
    documents: Sequence[str]
    titles: Sequence[str]
    domains: Sequence[str]


def draw_map(brain: Brain, version: int) -> bytes:
    """The map of the newest version, packed; takes seconds where there are many chunks."""
    import numpy as np
    import pyarrow.compute as pc

    chunks, places = brain.projection(("path", "chunk_index", "domain", "title"))
    coded = pc.dictionary_encode(chunks["path"].combine_chunks())
    numbers = coded.indices.to_numpy(zero_copy_only=False).astype("<u4")
    first_rows = np.unique(numbers, return_index=True)[1]
    of_documents = chunks.take(first_rows)
    header = MapHeader(
        version=version,
        count=len(chunks),
        documents=coded.dictionary.to_pylist(),
        titles=[title or "" for title in of_documents["title"].to_pylist()],
        domains=of_documents["domain"].to_pylist(),
    )
    return _packed(header, chunks["chunk_index"], numbers, places)


def _packed(
    header: MapHeader,
    chunk_indexes: pa.ChunkedArray,
    documents: NDArray[np.uint32],
    places: NDArray[np.float32],
) -> bytes:
    told = to_json(header).encode("utf-8", "replace")
    told += b" " * (-(len(told) + 4) % _ALIGNMENT)
    on_side = ((places + 1) / 2 * _SIDE).round().clip(0, _SIDE).astype("<u2")
    return b"".join(
        (
            struct.pack("<I", len(told)),
            told,
            chunk_indexes.to_numpy().astype("<f8").tobytes(),
            documents.tobytes(),
            on_side[:, 0].tobytes(),
            on_side[:, 1].tobytes(),
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
