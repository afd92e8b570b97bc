"""What the page asks for, and what it gets: the facade's values as JSON, errors with a status."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from lancebrain.brain import Brain
from lancebrain.machine import to_json
from lancebrain.types import Query
from tests.paged import Page, eventually, points_of, served
from tests.trees import write_tree

NOTES = {
    "coffee/espresso.md": "# Espresso\n\nDescale it with citric acid.\n\nSee [tea](../tea.md).\n",
    "tea.md": "---\ntags: [drinks]\n---\n# Tea\n\nGreen tea wants water of 70 degrees.\n",
    "broken.md": "---\ntags: [a\n---\n# Broken\n",
    "日記.md": "# 日記\n\n在庫同期の仕組みを調べた。\n",
}


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with served(tmp_path, write_tree(tmp_path / "notes", NOTES)) as page:
        page.brain.sync()
        yield page


@pytest.fixture
def client(page: Page) -> Iterator[httpx2.Client]:
    with page.client() as client:
        yield client


def _get(client: httpx2.Client, what: str, /, **asked: Any) -> Any:
    answer = client.get(f"/api/{what}", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _post(client: httpx2.Client, what: str, /, **body: Any) -> Any:
    answer = client.post(f"/api/{what}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def _until_version(client: httpx2.Client, version: int) -> None:
    eventually(lambda: _get(client, "status")["version"] >= version)


def test_an_answer_is_what_the_command_prints_as_json(page: Page, client: httpx2.Client) -> None:
    eventually(lambda: not _get(client, "search", q="descale")["by_words_alone"])
    found = _get(client, "search", q="descale", limit=5)
    answer = page.brain.search(Query("descale", limit=5), look=False)
    assert found["answer"] == json.loads(to_json(answer))
    assert found["terms"] == ["descale"]
    assert found["answer"]["hits"][0]["path"] == "notes/coffee/espresso.md"


def test_a_search_is_narrowed_down_by_every_filter(client: httpx2.Client) -> None:
    def paths(**wanted: Any) -> list[str]:
        answer = _get(client, "search", q="tea water acid", mode="keyword", **wanted)["answer"]
        return [hit["path"] for hit in answer["hits"]]

    assert paths(path="notes/coffee/") == ["notes/coffee/espresso.md"]
    assert paths(tag="#drinks") == ["notes/tea.md"]
    assert paths(source=["notes", "other"], domain="knowledge", kind="md", since="1d")
    assert not paths(source="other")
    assert not paths(role="user")
    assert not paths(project="ship")
    assert not paths(until="2020-01-01")


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"q": "x" * 1_001},
        {"q": "tea", "mode": "magic"},
        {"q": "tea", "limit": "ten"},
        {"q": "tea", "limit": "-1"},
        {"q": "tea", "since": "someday"},
        {"q": "tea", "at": "no-such-checkpoint"},
    ],
)
def test_what_makes_no_sense_is_told_with_400(client: httpx2.Client, asked: dict[str, str]) -> None:
    refused = client.get("/api/search", params=asked)
    assert (refused.status_code, refused.json()["error"]) == (400, "usage")
    assert refused.json()["message"]


def test_a_document_comes_chunk_by_chunk_and_whole(page: Page, client: httpx2.Client) -> None:
    hit = _get(client, "search", q="citric", mode="keyword")["answer"]["hits"][0]
    found = _get(client, "document", what=hit["id"])
    text = (page.root / "coffee/espresso.md").read_text()
    assert "".join(chunk["text"] for chunk in found["chunks"]) == text
    assert found["file"] == str(page.root / "coffee/espresso.md")
    assert found["chunks"][found["focus"]]["id"] == hit["id"]
    assert found["freshness"] == "fresh"
    links = _get(client, "document/links", path="notes/coffee/espresso.md")
    assert links["links"] == [["../tea.md", "notes/tea.md"]]
    back = _get(client, "document/links", path="notes/tea.md")["backlinks"]
    assert back == ["notes/coffee/espresso.md"]


def test_a_long_document_comes_in_pages_around_what_was_asked(
    page: Page, client: httpx2.Client
) -> None:
    parts = [f"## Part {number}\n\n{f'word{number} ' * 200}\n\n" for number in range(90)]
    text = "# Long\n\n" + "".join(parts)
    write_tree(page.root, {"long.md": text})
    page.brain.sync()
    hit = _get(client, "search", q="word45", mode="keyword")["answer"]["hits"][0]
    first = _get(client, "document", what=hit["id"])
    ranks = [chunk["rank"] for chunk in first["chunks"]]
    assert 0 < ranks[0] < first["focus"] < ranks[-1] < first["chunk_count"] - 1
    joined = ""
    at = 0
    while at < first["chunk_count"]:
        part = _get(client, "document", what="notes/long.md", **{"from": at})["chunks"]
        joined += "".join(chunk["text"] for chunk in part)
        at = part[-1]["rank"] + 1
    assert joined == text


def test_the_past_is_searched_read_compared_and_told(page: Page, client: httpx2.Client) -> None:
    before = _get(client, "status")["version"]
    write_tree(page.root, {"tea.md": "# Tea\n\nBlack tea wants boiling water.\n", "new.md": "x\n"})
    now = page.brain.sync().version
    found = _get(client, "search", q="degrees", mode="keyword", at=before)["answer"]
    assert [hit["path"] for hit in found["hits"]] == ["notes/tea.md"]
    then = _get(client, "document", what="notes/tea.md", at=before)
    assert "70 degrees" in then["chunks"][0]["text"]
    changes = _get(client, "diff", **{"from": before, "to": now})
    told = {(one["what"], one["path"]) for one in changes["diff"]["changes"]}
    assert told == {("added", "notes/new.md"), ("changed", "notes/tea.md")}
    one = _get(client, "diff", **{"from": before, "to": now}, path="notes/tea.md")
    assert "+Black tea wants boiling water." in one["diff"]["changes"][0]["text_diff"]
    versions = _get(client, "document/history", path="notes/tea.md")
    assert [entry["what"] for entry in versions] == ["changed", "added"]
    history = _get(client, "history", limit=1)
    assert history["versions"][0]["version"] == now
    assert history["count"] > 1


def test_a_rollback_is_told_first_then_done_then_taken_back(
    page: Page, client: httpx2.Client
) -> None:
    before = _get(client, "status")["version"]
    write_tree(page.root, {"new.md": "# New\n\nwombat\n"})
    now = page.brain.sync().version
    planned = _post(client, "rollback", ref=str(before), dry_run=True)
    assert planned["changes"] == {"removed": 1}
    assert _get(client, "status")["version"] == now
    done = _post(client, "rollback", ref=planned["ref"])
    assert done["checkpoint"]
    status = _get(client, "status")
    assert (status["pinned"], status["version"]) == (str(before), done["version"])
    assert not _get(client, "search", q="wombat", mode="keyword")["answer"]["hits"]
    assert (page.root / "new.md").exists()
    _post(client, "resume")
    assert _get(client, "status")["pinned"] is None
    assert _get(client, "search", q="wombat", mode="keyword")["answer"]["hits"]


def test_a_note_is_written_back_and_no_other_content_is_lost_unasked(
    page: Page, client: httpx2.Client
) -> None:
    before = str(_get(client, "status")["version"])
    file = page.root / "tea.md"
    as_it_was = file.read_bytes()
    file.write_text("# Tea\n\nall new\n")
    page.brain.sync()
    (left,) = _post(client, "restore", path="notes/tea.md", at=before)
    assert not left["done"]
    assert file.read_text() == "# Tea\n\nall new\n"
    (done,) = _post(client, "restore", path="notes/tea.md", at=before, overwrite=True)
    assert done["done"]
    assert file.read_bytes() == as_it_was


def test_checkpoints_are_given_and_taken_away(client: httpx2.Client) -> None:
    made = _post(client, "checkpoints", name="before-x", message="why")
    tags = {v["version"]: v["tags"] for v in _get(client, "history")["versions"]}
    assert tags[made["version"]] == ["before-x"]
    assert client.delete("/api/checkpoints/before-x").status_code == 200
    assert not any(v["tags"] for v in _get(client, "history")["versions"])
    refused = client.post("/api/checkpoints", json={"name": "no/slash"})
    assert refused.status_code == 400


def test_a_page_that_only_reads_changes_nothing(tmp_path: Path) -> None:
    notes = write_tree(tmp_path / "notes", NOTES)
    with served(tmp_path, notes, read_only=True, follow=False) as page, page.client() as client:
        page.brain.sync()
        version = _get(client, "status")["version"]
        for path in ("rollback", "resume", "restore", "checkpoints"):
            refused = client.post(
                f"/api/{path}", json={"ref": "1", "path": "notes/tea.md", "name": "x"}
            )
            assert (refused.status_code, refused.json()["error"]) == (400, "usage"), path
        assert client.delete("/api/checkpoints/x").status_code == 400
        assert _get(client, "status")["version"] == version


def test_bodies_that_are_no_object_or_too_large_are_refused(client: httpx2.Client) -> None:
    for body in (b"", b"[]", b"{", b'{"ref": 3}', b'{"ref": "' + b"x" * 70_000 + b'"}'):
        assert client.post("/api/rollback", content=body).status_code == 400


def test_every_chunk_with_a_vector_is_a_point_of_the_map(page: Page, client: httpx2.Client) -> None:
    header, chunks, documents = points_of(client.get("/api/map").content)
    ids = {
        f"{header['documents'][number]}#{chunk}"
        for number, chunk in zip(documents, chunks, strict=True)
    }
    assert {hit["id"] for hit in _get(client, "search", q="tea")["answer"]["hits"]} <= ids
    assert header["count"] == _get(client, "status")["chunks"]
    assert header["version"] == _get(client, "status")["version"]
    assert dict(zip(header["documents"], header["titles"], strict=True))["notes/tea.md"] == "Tea"
    assert sum(topic["count"] for topic in header["topics"]) == header["count"]
    passage = _get(client, "passage", id=sorted(ids)[0])
    assert passage["text"]


def test_alike_and_duplicate_documents_are_named(page: Page, client: httpx2.Client) -> None:
    twin = NOTES["coffee/espresso.md"].replace("](../tea.md)", "](tea.md)")
    write_tree(page.root, {"copy.md": twin})
    page.brain.sync()
    hit = _get(client, "search", q="citric", mode="keyword")["answer"]["hits"][0]
    assert _get(client, "related", id=hit["id"])[0]["path"].endswith((".md",))
    (pair,) = _get(client, "duplicates")
    assert {pair["path"], pair["like"]} == {"notes/copy.md", "notes/coffee/espresso.md"}


def test_what_there_is_to_choose_from_is_counted(client: httpx2.Client) -> None:
    choices = _get(client, "choices")
    assert choices["sources"] == {"notes": 4}
    assert choices["tags"] == {"drinks": 1}
    assert choices["folders"] == {"notes/coffee/": 1}
    recent = _get(client, "recent", limit=2)
    assert len(recent) == 2


def _beats(answer: httpx2.Response) -> Iterator[dict[str, Any]]:
    for line in answer.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_pages_hear_of_changes_whoever_makes_them(page: Page, client: httpx2.Client) -> None:
    with client.stream("GET", "/api/beats") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        beats = _beats(answer)
        first = next(beat for beat in beats if beat["pulse"])
        write_tree(page.root, {"new.md": "# New\n"})  # the page follows the files
        heard = next(beat for beat in beats if beat["pulse"]["documents"] == 5)
        assert heard["pulse"]["version"] > first["pulse"]["version"]
        other = Brain(lambda: page.brain.settings, embedder=page.brain._access._given)
        other.rollback(str(first["pulse"]["version"]))  # another process
        held = next(beat for beat in beats if beat["pulse"]["pinned"])
        assert held["pulse"]["documents"] == 4


def test_without_an_index_the_page_says_how_to_begin(tmp_path: Path) -> None:
    from lancebrain.brain import open as open_brain
    from tests.stand_in import StandIn

    empty = open_brain(tmp_path / "none", embedder=StandIn(), sources=[])
    with served(tmp_path, tmp_path, brain=empty) as page, page.client() as client:
        refused = client.get("/api/search", params={"q": "x"})
        assert (refused.status_code, refused.json()["error"]) == (404, "no-index")
        assert "lancebrain sync" in refused.json()["hint"]


def test_a_mistake_of_ours_tells_no_secrets(
    page: Page, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("a path of the owner: /home/ana")

    monkeypatch.setattr(Brain, "history", broken)
    refused = client.get("/api/history")
    assert (refused.status_code, refused.json()["error"]) == (500, "mistake")
    assert "ana" not in refused.text


def test_files_that_are_no_text_and_names_that_are_no_unicode_do_no_harm(
    page: Page, client: httpx2.Client
) -> None:
    write_tree(page.root, {"caf\udce9.md": "# Name\n\nokapi\n", "b.md": "oka\0pi okapi\n"})
    page.brain.sync()
    hits = _get(client, "search", q="okapi", mode="keyword")["answer"]["hits"]
    assert len(hits) == 2
    for hit in hits:
        assert _get(client, "document", what=hit["id"])["chunks"]


def test_the_query_of_an_address_becomes_the_facades(page: Page) -> None:
    from starlette.datastructures import QueryParams

    from lancebrain.web.asked import query_of

    asked = QueryParams("q=tea&mode=vector&limit=9999&source=a&source=b&tag=%23x&path=notes/")
    query = query_of(asked)
    assert query.limit == 200
    wanted = replace(query.filter, sources=("a", "b"), tags=("x",), path="notes/")
    assert query.filter == wanted
