"""The map: chunks in two dimensions, with what they are about or where they are from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pyarrow as pa

from lancebrain.analysis.chunks import read_vectors
from lancebrain.analysis.projection import project
from lancebrain.analysis.result import Analysis, Chart
from lancebrain.analysis.topics import grouped, name_of, words_of
from lancebrain.errors import UsageError
from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.store import Snapshot

Colour = Literal["topic", "source", "domain", "kind"]

_MOST_NAMED = 20


def map_of(snapshot: Snapshot, wanted: Filter, *, colour: Colour = "topic") -> Analysis:
    """Each chunk that has a vector with its place on the map and its topic.

    Args:
        colour: what the colours of the plot mean.

    Raises:
        UsageError: colours cannot mean that.
    """
    if colour not in get_args(Colour):
        raise UsageError(
            f"Colours cannot mean {colour!r}.", hint=f"Choose one of {', '.join(get_args(Colour))}."
        )
    about = ("path", "chunk_index", "source", "domain", "kind")
    chunks, vectors = read_vectors(snapshot, wanted, about)
    places = project(vectors)
    groups = grouped(vectors, len(chunks["path"].unique()))
    words = words_of(snapshot, chunks, groups)
    table = chunks.append_column("x", pa.array(places[:, 0]))
    table = table.append_column("y", pa.array(places[:, 1]))
    table = table.append_column("topic", pa.array(groups.topic + 1))
    if colour == "topic":
        codes, names = groups.topic, [name_of(found) for found in words]
    else:
        coded = chunks[colour].combine_chunks().dictionary_encode()
        codes, names = coded.indices.to_numpy().astype(np.int64), coded.dictionary.to_pylist()
    return Analysis(
        name="map",
        title=f"The chunks, coloured by {colour}",
        version=snapshot.version,
        summary=tuple(f"Topic {at}: {name_of(found)}." for at, found in enumerate(words, 1)),
        table=table,
        chart=Chart(
            "points",
            "",
            "",
            {"y": places[:, 1]},
            x=places[:, 0],
            colours=codes,
            colour_names=names[:_MOST_NAMED],
        ),
    )
