"""One index on object storage, used from several machines: a real S3 server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lancebrain
from lancebrain.doctor.checks import unlisted
from lancebrain.errors import StoreError, UnreachableError, UsageError
from lancebrain.store import Checkpoints, Store, storage_at
from lancebrain.store.objects import Objects
from lancebrain.sync.learning import reject_learning
from lancebrain.types import Filter
from lancebrain.versions import rollback
from tests.machines import NOTE, Machine, assert_nothing_lost_or_doubled
from tests.object_storage import BUCKET, options, s3_server
from tests.trees import write_tree

pytest.importorskip("obstore", reason="object storage takes the extra lancebrain[remote]")
pytest.importorskip("moto", reason="the S3 server of these tests is moto's")
pytestmark = pytest.mark.remote


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def uri(request: pytest.FixtureRequest) -> str:
    return f"s3://{BUCKET}/{request.node.name[:60]}"


def test_what_one_machine_writes_another_finds(tmp_path: Path, uri: str, server: str) -> None:
    here = Machine(tmp_path, "here", uri, server).write("alpha", "beta")
    there = Machine(tmp_path, "there", uri, server).write("gamma")
    assert here.engine.sync().added == 2
    assert there.engine.sync().added == 1
    assert_nothing_lost_or_doubled(here.store, here, there)
    hits = here.store.snapshot().keyword_candidates("gamma", Filter(), 5)
    assert [hit.path for hit in hits] == ["there/gamma.md"]
    here.write("alpha2")
    (here.root / "beta.md").unlink()
    (here.root / "alpha.md").write_text("# Another\n")
    here.engine.sync(confirm_removals=True)
    assert_nothing_lost_or_doubled(there.store, here, there)
    assert [r.reason for r in there.store.commits.read()][-1] == "sync"
    assert not list((here.settings.index).glob("*.lance"))


def test_documents_of_other_machines_are_neither_found_fault_with_nor_dropped(
    tmp_path: Path, uri: str, server: str
) -> None:
    here = Machine(tmp_path, "here", uri, server).write("alpha")
    there = Machine(tmp_path, "there", uri, server).write("gamma")
    here.engine.sync()
    there.engine.sync()
    assert list(unlisted(here.engine)) == []
    with lancebrain.open(
        uri,
        storage_options=here.settings.storage_options,
        sources=here.settings.sources,
        model=here.settings.model,
    ) as brain:
        brain.sync(confirm_removals=True)
    assert_nothing_lost_or_doubled(there.store, here, there)


def test_deleting_passes_over_what_is_not_there(tmp_path: Path) -> None:
    from obstore.store import LocalStore

    # It tells of what is not there as Azure does, and S3 does not.
    objects = Objects.__new__(Objects)
    objects._store = LocalStore(tmp_path)
    for name in ("a", "b"):
        objects.put(name, b"content")
    objects.delete(["nope", "a", "nope either", "b"])
    assert not list(tmp_path.iterdir())


def test_checkpoints_and_the_hold_are_seen_by_every_machine(
    tmp_path: Path, uri: str, server: str
) -> None:
    here = Machine(tmp_path, "here", uri, server).write("alpha")
    there = Machine(tmp_path, "there", uri, server)
    here.engine.sync()
    with here.store.lock(5):
        version = here.store.snapshot().version
        Checkpoints(here.store).create("first", version, at=_now(), message="as it began")
    here.write("beta")
    here.engine.sync()
    assert [c.message for c in Checkpoints(there.store).all()] == ["as it began"]
    rollback(there.store, "first", now=_now(), lock_timeout_s=5)
    assert here.store.hold.is_set()
    assert list(here.store.snapshot().stats()) == ["here/alpha.md"]
    report = here.write("delta").engine.sync()
    assert [problem.code for problem in report.problems] == ["pinned"]
    assert report.added == 0


def test_a_reader_sees_new_versions_within_its_bound_and_asks_no_more_often(
    tmp_path: Path, uri: str, server: str
) -> None:
    here = Machine(tmp_path, "here", uri, server).write("alpha")
    at_once = Store.open(Machine(tmp_path, "there", uri, server).storage())
    lazily = Store.open(Machine(tmp_path, "lazy", uri, server, refresh_s=3_600).storage())
    before = lazily.snapshot().version
    here.engine.sync()
    assert at_once.snapshot().document_count() == 1
    assert lazily.snapshot().version == before
    with lazily.lock(5):
        assert lazily.snapshot().document_count() == 1
    assert lazily.snapshot().document_count() == 1


def test_two_machines_that_write_at_the_same_time_take_turns(
    tmp_path: Path, uri: str, server: str
) -> None:
    machines = [Machine(tmp_path, name, uri, server) for name in ("a", "b", "c")]
    failed: list[BaseException] = []

    def edit(machine: Machine) -> None:
        try:
            for number in range(4):
                machine.write(number, number + 1).engine.sync()
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=edit, args=(machine,)) for machine in machines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert_nothing_lost_or_doubled(machines[0].store, *machines)


def test_old_versions_and_what_no_version_has_are_deleted(
    tmp_path: Path, uri: str, server: str
) -> None:
    here = Machine(tmp_path, "here", uri, server)
    for number in range(4):
        here.write("alpha", f"n{number}").engine.sync()
    objects = Objects(uri, options(server))
    objects.put("chunks.lance/data/left.lance", b"of a write that was cut short")
    with here.store.lock(5):
        report = here.store.maintain(now=_now(days=8))
    assert report.versions_removed >= 3
    assert len(here.store.versions()) < 6
    assert objects.get("chunks.lance/data/left.lance") is None
    assert_nothing_lost_or_doubled(here.store, here)


def test_storage_without_conditional_writes_is_refused(
    tmp_path: Path, uri: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Objects, "put_if", lambda self, name, content, seen: self.put(name, content)
    )
    with pytest.raises(StoreError, match="writes over an object"):
        Machine(tmp_path, "here", uri, server)


def test_storage_that_does_not_answer_is_told(tmp_path: Path, uri: str) -> None:
    gone = {**options("http://127.0.0.1:9"), "client_max_retries": "1"}
    storage = storage_at(tmp_path / "local", uri, gone, refresh_s=0)
    with pytest.raises(UnreachableError, match="cannot be reached"):
        Store.exists(storage)


def test_an_address_without_encryption_says_what_it_takes(
    tmp_path: Path, uri: str, server: str
) -> None:
    without = {name: value for name, value in options(server).items() if name != "allow_http"}
    storage = storage_at(tmp_path, uri, without, refresh_s=0)
    with pytest.raises(UnreachableError, match="allow_http = true"):
        Store.create(storage, model="m", fingerprint="f", dim=8)


def test_what_cannot_be_on_object_storage_says_so(tmp_path: Path, uri: str, server: str) -> None:
    here = Machine(tmp_path, "here", uri, server).write("alpha")
    here.engine.sync()
    with here.store.lock(5), pytest.raises(StoreError, match="object storage"):
        here.store.rewrite([here.store.version], without=["here/alpha.md"], counts={}, started=0)
    with pytest.raises(StoreError, match="object storage"):
        Store.set_aside(here.storage(), timeout_s=1)
    with pytest.raises(UsageError, match="learned"):
        reject_learning("lsa", here.store.storage)


def test_the_command_line_takes_a_uri(
    tmp_path: Path, uri: str, server: str, lb: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path / "notes", {"alpha.md": NOTE.format("alpha")})
    for name, value in options(server).items():
        monkeypatch.setenv(name.upper().replace("ALLOW", "AWS_ALLOW"), value)
    assert lb("sync", "--index", uri, tmp_path / "notes").code == 0
    status = lb("status", "--index", uri, "--json").json
    assert status["index"] == uri
    assert status["documents"] == 1
    found = lb("search", "alpha", "--index", uri, "--json").json
    assert found["hits"][0]["path"] == "notes/alpha.md"
    refused = lb("forget", "notes/alpha.md", "--yes", "--index", uri)
    assert refused.code == 1
    assert "object storage" in refused.err


def _now(days: float = 0) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)
