"""Which items of an old sequence live on in a new one: a longest common subsequence in near-linear
time, for documents of tens of thousands of chunks.

Pure; the planner calls it. Each step works on what the one before left over:

1. The common prefix and suffix: all there is to do for a single edit.
2. Items that occur on both sides are matched exactly (Hunt and Szymanski, "A fast algorithm for
   computing longest common subsequences", 1977) as long as the possible pairs are not many more
   than the items.
3. Otherwise rare items alone are matched exactly and serve as anchors (the idea of Bram Cohen's
   patience diff), and each stretch between two anchors is done by itself. A stretch without a
   rare item pairs equal items by their ordinal: the first with the first.

So the result is a longest one unless items repeat a lot, and a long one even then.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator, Sequence

Pair = tuple[int, int]
Placed = tuple[int, Hashable]
"""A position and the item there."""

_PAIRS_AN_ITEM = 8
_RARE_PAIRS = 16
_MAX_DEPTH = 40


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """Pairs (position in ``old``, position in ``new``) of equal items, ascending on both sides."""
    return list(_align(old, (0, len(old)), new, (0, len(new)), _MAX_DEPTH))


def stretches(pairs: Iterable[Pair], old_span: Pair, new_span: Pair) -> Iterator[tuple[Pair, Pair]]:
    """The spans before, between and after ``pairs``; each (old start, end), (new start, end).

    Args:
        pairs: ascending on both sides, within the spans.
        old_span, new_span: start and exclusive end of what is divided.
    """
    i, j = old_span[0], new_span[0]
    for old_next, new_next in (*pairs, (old_span[1], new_span[1])):
        yield (i, old_next), (j, new_next)
        i, j = old_next + 1, new_next + 1


def _align(
    old: Sequence[Hashable],
    old_span: Pair,
    new: Sequence[Hashable],
    new_span: Pair,
    depth: int,
) -> Iterator[Pair]:
    (i, old_end), (j, new_end) = old_span, new_span
    while i < old_end and j < new_end and old[i] == new[j]:
        yield i, j
        i, j = i + 1, j + 1
    suffix = 0
    while (
        i < old_end - suffix
        and j < new_end - suffix
        and old[old_end - suffix - 1] == new[new_end - suffix - 1]
    ):
        suffix += 1
    if i < old_end - suffix and j < new_end - suffix:
        yield from _align_middle(old, (i, old_end - suffix), new, (j, new_end - suffix), depth)
    for back in range(suffix, 0, -1):
        yield old_end - back, new_end - back


def _align_middle(
    old: Sequence[Hashable],
    old_span: Pair,
    new: Sequence[Hashable],
    new_span: Pair,
    depth: int,
) -> Iterator[Pair]:
    old_items = [(i, old[i]) for i in range(*old_span)]
    new_items = [(j, new[j]) for j in range(*new_span)]
    in_new = Counter(item for _, item in new_items)
    possible = {
        item: n * in_new[item]
        for item, n in Counter(item for _, item in old_items).items()
        if item in in_new
    }
    if sum(possible.values()) <= _PAIRS_AN_ITEM * (len(old_items) + len(new_items)):
        yield from _longest(_only(old_items, possible), _only(new_items, possible))
        return
    rare = {item for item, pairs in possible.items() if pairs <= _RARE_PAIRS}
    if not rare or depth == 0:
        yield from _longest(_numbered(old_items), _numbered(new_items))
        return
    anchors = _longest(_only(old_items, rare), _only(new_items, rare))
    for number, (old_part, new_part) in enumerate(stretches(anchors, old_span, new_span)):
        yield from _align(old, old_part, new, new_part, depth - 1)
        if number < len(anchors):
            yield anchors[number]


def _only(items: Iterable[Placed], wanted: Container[Hashable]) -> list[Placed]:
    return [placed for placed in items if placed[1] in wanted]


def _numbered(items: Iterable[Placed]) -> list[Placed]:
    """Each item made distinct by how often it came before."""
    seen: Counter[Hashable] = Counter()
    numbered: list[Placed] = []
    for position, item in items:
        seen[item] += 1
        numbered.append((position, (item, seen[item])))
    return numbered


def _longest(old_items: Sequence[Placed], new_items: Sequence[Placed]) -> list[Pair]:
    """A longest common subsequence, exactly; time and room grow with the number of equal pairs."""
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for j, item in reversed(new_items):
        places[item].append(j)
    # ends[k] is the smallest new position at which a common subsequence of length k + 1 ends;
    # chains[k] is that subsequence as a linked list from its end.
    ends: list[int] = []
    chains: list[tuple[Pair, object]] = []
    for i, item in old_items:
        for j in places.get(item, ()):
            k = bisect_left(ends, j)
            chain = ((i, j), chains[k - 1] if k else None)
            if k == len(ends):
                ends.append(j)
                chains.append(chain)
            else:
                ends[k], chains[k] = j, chain
    pairs = []
    link: object = chains[-1] if chains else None
    while isinstance(link, tuple):
        pair, link = link
        pairs.append(pair)
    pairs.reverse()
    return pairs
