"""How files and texts are handed out to the workers of a cluster."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from lancebrain.sync.ahead import BATCH_CHARS, Batches, groups
from lancebrain.sync.on_ray import next_batch
from lancebrain.types import Source, SourceFile


def test_files_go_in_groups_and_texts_in_batches_of_about_one_length() -> None:
    source = Source("notes", Path("/notes"))
    files = [
        SourceFile(source=source, path=f"notes/{n}", file=f"/notes/{n}", size=size, mtime_ns=0)
        for n, size in enumerate([10, 2_000_000, 5, *[1] * 200])
    ]
    made = list(groups(files))
    assert [file for group in made for file in group] == files
    assert max(map(len, made)) == 128
    batches = Batches({"known"})
    batches.add({"known": "x", **{f"{n}": "y" * (n % 50 + 1) * 50 for n in range(600)}})
    batches.add({"1": "twice"})
    assert list(batches.ready(all_there=False)) == []
    ready = list(batches.ready(all_there=True))
    assert sum(map(len, ready)) == batches.texts_total == 600
    assert all(sum(map(len, batch.values())) <= BATCH_CHARS for batch in ready)
    assert list(batches.ready(all_there=True)) == []


def test_towards_the_end_workers_get_ever_fewer_texts_and_each_text_once() -> None:
    batches = [{f"{n}-{m}": "a text" for m in range(64)} for n in range(4)]
    left = deque(batches)
    while_parsing = next_batch(left, 2, is_end=False)
    assert while_parsing == batches[0]
    handed = [while_parsing]
    while left:
        a_quarter = -(-sum(map(len, left)) // 4)  # so that each of two workers gets two
        handed.append(next_batch(left, 2, is_end=True))
        assert len(handed[-1]) < max(a_quarter, 4) + 4  # what is left of a batch goes along
    assert [key for batch in handed for key in batch] == [key for b in batches for key in b]
