"""The program on real files and a real index: what is printed, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lancebrain import __version__
from lancebrain.config.settings import KEYS
from tests.conftest import Ran
from tests.trees import write_tree

Lb = Callable[..., Ran]

NOTES = {
    "gear/espresso.md": "# Espresso\n\n## Descaling\n\nDescale the machine with citric acid.\n",
    "gear/bike.md": "---\ntags: [bike]\n---\n# Bike\n\nThe chain needs oil every 200 km.\n",
    "日本語/締め切り.md": "# 申告\n\n申告の締め切りは三月十六日です。\n",
    "中文/红烧肉.md": "# 红烧肉\n\n五花肉切块，冰糖炒色，小火炖一个小时。\n",
}

pytestmark = pytest.mark.usefixtures("stand_in")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "notes", NOTES)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def indexed(lb: Lb, notes: Path, index: Path) -> Path:
    """An index of the notes."""
    assert lb("sync", notes, "--index", index).code == 0
    return index


def test_a_folder_is_all_it_takes_to_begin(lb: Lb, notes: Path, index: Path) -> None:
    synced = lb("sync", notes, "--index", index)
    assert synced.code == 0
    assert "4 added" in synced.out
    found = lb("search", "citric acid", "--index", index)
    assert found.code == 0
    assert "notes/gear/espresso.md:" in found.out
    assert "Espresso › Descaling" in found.out


def test_sync_json_tells_every_count(lb: Lb, notes: Path, index: Path) -> None:
    report = lb("sync", notes, "--index", index, "--json").json
    assert set(report) == {
        "version", "added", "changed", "moved", "removed", "unchanged", "rows_written",
        "rows_deleted", "embedded", "reused", "problems", "seconds",
    }  # fmt: skip
    assert (report["added"], report["unchanged"], report["problems"]) == (4, 0, [])
    assert report["embedded"] == report["rows_written"] - 4
    again = lb("sync", "--index", index, "--json").json
    assert (again["added"], again["unchanged"], again["rows_written"]) == (0, 4, 0)
    assert again["version"] == report["version"]


def test_search_json_has_the_state_and_the_place_of_every_hit(lb: Lb, indexed: Path) -> None:
    answer = lb("search", "申告 締め切り", "--index", indexed, "--json").json
    assert {"version", "pending", "pinned", "hits"} <= set(answer)
    assert (answer["pending"], answer["pinned"]) == (0, None)
    hit = answer["hits"][0]
    assert {
        "id", "path", "title", "heading_path", "line_start", "line_end", "role", "score",
        "snippet", "freshness",
    } <= set(hit)  # fmt: skip
    assert hit["path"] == "notes/日本語/締め切り.md"
    assert hit["id"].startswith(hit["path"] + "#")
    assert (hit["heading_path"], hit["freshness"]) == (["申告"], "fresh")
    assert "三月十六日" in hit["snippet"]


def test_status_json_names_sources_problems_and_size(lb: Lb, notes: Path, index: Path) -> None:
    (notes / "bad.md").write_text("---\ntags: [unclosed\n---\ntext\n")
    synced = lb("sync", notes, "--index", index)
    assert synced.code == 3
    assert "bad.md" in synced.out
    status = lb("status", "--index", index, "--json").json
    assert {
        "version", "pinned", "documents", "chunks", "pending", "sources", "problems", "bytes",
    } <= set(status)  # fmt: skip
    assert status["documents"] == 5
    assert status["sources"] == [
        {"name": "notes", "root": str(notes), "state": "ok", "documents": 5}
    ]
    (problem,) = status["problems"]
    assert set(problem) == {"path", "code", "message"}
    assert problem["path"] == "notes/bad.md"
    assert status["bytes"] > 0
    # A file that was a problem before and has not changed is no news.
    assert lb("sync", "--index", index).code == 0


def test_export_gives_back_every_file(lb: Lb, indexed: Path) -> None:
    lines = [json.loads(line) for line in lb("export", "--index", indexed).out.splitlines()]
    assert list(lines[0]) == [
        "path", "chunk_index", "rank", "kind", "domain", "role", "title", "heading_path",
        "line_start", "line_end", "text", "chunk_hash", "embedded",
    ]  # fmt: skip
    texts: dict[str, str] = {}
    for line in lines:
        texts[line["path"]] = texts.get(line["path"], "") + line["text"]
    assert texts == {f"notes/{name}": text for name, text in NOTES.items()}


def test_export_takes_in_what_changed_on_disk_first(lb: Lb, indexed: Path, notes: Path) -> None:
    export = ("export", "--index", indexed, "--path", "notes/gear/espresso.md")
    (notes / "gear/espresso.md").write_text("# Espresso\n\nGrind it finer.\n")
    assert "finer" not in lb(*export, "--no-look").out
    assert "finer" not in lb(*export, "--at", "latest").out
    assert "finer" in lb(*export).out


def test_export_leaves_a_file_as_it_was_unless_all_of_it_can_be_written(
    lb: Lb, indexed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("from before")
    failed = lb("export", "--index", indexed, "-o", out, "--at", "999")
    assert failed.code == 2
    assert out.read_text() == "from before"
    nowhere = lb("export", "--index", indexed, "-o", tmp_path / "none" / "out.jsonl")
    assert nowhere.code == 2
    assert "cannot be written" in nowhere.err
    below_a_file = lb("export", "--index", indexed, "-o", out / "out.jsonl")
    assert (below_a_file.code, "cannot be written" in below_a_file.err) == (2, True)
    link = tmp_path / "link.jsonl"
    link.symlink_to(out)
    lb("export", "--index", indexed, "-o", link)
    assert link.is_symlink()
    assert json.loads(out.read_text().splitlines()[0])["path"].startswith("notes/")
    assert {file.name for file in tmp_path.glob("out*")} == {"out.jsonl"}


def test_export_can_be_narrowed_and_take_other_forms(lb: Lb, indexed: Path, tmp_path: Path) -> None:
    out = tmp_path / "chunks.parquet"
    lb("export", "--index", indexed, "--format", "parquet", "-o", out, "--tag", "bike")
    import pyarrow.parquet as pq

    table = pq.read_table(out)
    assert table["path"].to_pylist() == ["notes/gear/bike.md"]
    assert table["heading_path"].to_pylist() == [["Bike"]]
    rows = lb("export", "--index", indexed, "--format", "csv", "--path", "notes/gear").out
    assert rows.startswith("path,chunk_index,rank,")
    assert "espresso.md" in rows
    assert "红烧肉" not in rows


def test_the_shared_options_stand_before_or_after_the_command(
    lb: Lb, indexed: Path, tmp_path: Path
) -> None:
    before = lb("--index", indexed, "--json", "status")
    after = lb("status", "--index", indexed, "--json")
    assert before.json == after.json
    listed = lb("sources", "--index", indexed, "list")
    assert "notes" in listed.out
    later_wins = lb("--index", tmp_path / "none", "status", "--index", indexed)
    assert later_wins.code == 0


def test_without_an_index_it_says_how_to_begin(lb: Lb, index: Path) -> None:
    for command in (["search", "x"], ["status"], ["export"], ["show", "a.md"], ["doctor"]):
        ran = lb(*command, "--index", index)
        assert ran.code == 10
        assert ran.out == ""
        assert "lancebrain sync FOLDER" in ran.err
    nothing = lb("sync", "--index", index)
    assert nothing.code == 2
    assert "lancebrain sync FOLDER" in nothing.err
    assert not index.exists()


def test_show_takes_a_path_a_line_an_id_or_a_file(lb: Lb, indexed: Path, notes: Path) -> None:
    text = NOTES["gear/espresso.md"]
    assert lb("show", "notes/gear/espresso.md", "--index", indexed).out == text
    assert lb("show", notes / "gear/espresso.md", "--index", indexed).out == text
    hit = lb("search", "citric", "--index", indexed, "--json").json["hits"][0]
    by_id = lb("show", hit["id"], "--index", indexed, "--json").json
    assert "citric acid" in by_id["text"]
    assert by_id["heading_path"] == ["Espresso", "Descaling"]
    by_line = lb("show", "notes/gear/espresso.md:5", "--index", indexed, "--json").json
    assert by_line["text"] == by_id["text"]
    missing = lb("show", "notes/espresso.md", "--index", indexed)
    assert missing.code == 2
    assert "notes/gear/espresso.md" in missing.err
    beyond = lb("show", "notes/gear/espresso.md:99", "--index", indexed)
    assert beyond.code == 2


def test_a_path_is_printed_so_that_it_can_be_given_again(
    lb: Lb, indexed: Path, notes: Path
) -> None:
    (notes / "two  blanks, and one　wide.md").write_text("# Rooibos\n\nSteep it for long.\n")
    lb("sync", "--index", indexed)
    found = lb("search", "rooibos", "--index", indexed).out
    (line,) = [line for line in found.splitlines() if "blanks" in line]
    path = line[line.index("notes/") : line.index(".md") + 3]
    assert lb("show", path, "--index", indexed).out.startswith("# Rooibos")


def test_a_dry_run_tells_and_writes_nothing(lb: Lb, notes: Path, index: Path) -> None:
    planned = lb("sync", notes, "--dry-run", "--index", index, "--json").json
    assert planned["added"] == 4
    assert not index.exists()
    done = lb("sync", notes, "--index", index, "--json").json
    assert (done["embedded"], done["rows_written"]) == (
        planned["embedded"],
        planned["rows_written"],
    )
    (notes / "gear/bike.md").unlink()
    assert lb("sync", "--dry-run", "--index", index, "--json").json["removed"] == 1
    assert lb("status", "--index", index, "--json").json["documents"] == 4


def test_sources_are_added_listed_and_removed(lb: Lb, indexed: Path, tmp_path: Path) -> None:
    wiki = write_tree(tmp_path / "wiki", {"deploy.md": "Deploy with the blue script.\n"})
    added = lb("sources", "add", wiki, "--name", "work", "--domain", "job", "--index", indexed)
    assert added.code == 0
    assert lb("sync", "--index", indexed, "--json").json["added"] == 1
    found = lb("search", "deploy", "--domain", "job", "--index", indexed, "--json").json
    assert [hit["path"] for hit in found["hits"]] == ["work/deploy.md"]
    twice = lb("sources", "add", wiki, "--index", indexed)
    assert twice.code == 2
    assert "'work' already" in twice.err
    removed = lb("sources", "remove", "work", "--index", indexed)
    assert removed.code == 0
    assert (wiki / "deploy.md").exists()
    listed = lb("sources", "list", "--index", indexed, "--json").json
    assert [(source["name"], source["documents"]) for source in listed] == [("notes", 4)]
    assert lb("sources", "remove", "work", "--index", indexed).code == 2


def test_init_writes_a_configuration_that_sync_uses(
    lb: Lb, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert lb("init", notes).code == 0
    config = here / "lancebrain.toml"
    assert "notes" in config.read_text()
    assert lb("init").code == 2
    index = tmp_path / "index"
    assert lb("sync", "--index", index, "--json").json["added"] == 4
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    named = lb("sync", "--index", index, "--config", config, "--json")
    assert named.json["unchanged"] == 4


def test_init_writes_every_key(lb: Lb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lb("init")
    lines = (tmp_path / "lancebrain.toml").read_text().splitlines()
    keys = [line[2:].partition(" = ")[0] for line in lines if line.startswith("# ")]
    assert set(KEYS) - {"sources"} <= set(keys)


def test_filters_narrow_what_is_found(lb: Lb, indexed: Path) -> None:
    def paths(*options: str) -> list[str]:
        answer = lb("search", "the", "machine", "oil", *options, "--index", indexed, "--json").json
        return [hit["path"] for hit in answer["hits"]]

    assert len(paths()) >= 2
    assert paths("--tag", "#bike") == ["notes/gear/bike.md"]
    assert paths("--path", "notes/gear/*.md", "--limit", "1", "--exclude-domain", "none")
    assert paths("--kind", "text") == []
    assert paths("--until", "2020-01-01") == []
    assert paths("--since", "7d") == paths()
    wrong = lb("search", "x", "--since", "soon", "--index", indexed)
    assert wrong.code == 2
    assert "yesterday" in wrong.err


def test_wrong_command_lines_end_with_2(lb: Lb, indexed: Path, tmp_path: Path) -> None:
    assert lb("serch").code == 2
    assert lb("search", "--index", indexed).code == 2
    assert lb("search", "x", "--mode", "magic", "--index", indexed).code == 2
    assert lb("sync", tmp_path / "nowhere", "--index", indexed).code == 2
    unknown = lb("status", "--index", indexed, "--config", tmp_path / "none.toml")
    assert unknown.code == 2


def test_a_save_just_before_a_question_is_in_the_answer(lb: Lb, indexed: Path, notes: Path) -> None:
    (notes / "new.md").write_text("# Quokka\n\nThe quokka smiles.\n")
    (notes / "gear/bike.md").unlink()
    found = lb("search", "quokka", "--mode", "keyword", "--index", indexed, "--json").json
    assert [hit["path"] for hit in found["hits"]] == ["notes/new.md"]
    assert (
        lb("search", "chain oil", "--mode", "keyword", "--index", indexed, "--json").json["hits"]
        == []
    )
    (notes / "newer.md").write_text("# Numbat\n\nThe numbat eats termites.\n")
    as_it_was = lb("search", "numbat", "--no-look", "--mode", "keyword", "--index", indexed)
    assert as_it_was.out == ""
    assert "Nothing found" in as_it_was.err


def test_doctor_finds_nothing_wrong_with_a_fresh_index(lb: Lb, indexed: Path) -> None:
    ran = lb("doctor", "--deep", "--index", indexed)
    assert ran.code == 0
    assert "healthy" in ran.out


def test_version_and_help_are_there(lb: Lb) -> None:
    assert lb("--version").out.strip() == f"lancebrain {__version__}"
    for command in ("search", "sync", "show", "status", "export", "doctor", "init"):
        shown = lb(command, "--help")
        assert shown.code == 0
        assert "Examples" in shown.out
        assert f"lancebrain {command}" in shown.out
