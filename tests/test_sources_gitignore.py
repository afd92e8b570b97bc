"""Git's ignore rules: the same files are left out as git itself would leave out."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lancebrain.sources import IgnoreRules, discover
from lancebrain.sources.patterns import NameFilter, Patterns
from lancebrain.types import Source
from tests.trees import Link, write_tree

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

FOLDERS = ("", "a/", "b/", "a/b/", "a/a/", "b/[c]/", "a/b/a/")
NAMES = ("a.md", "b.md", "ab.md", "#a.md", "a b.md", "A.md")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.excludesFile=", "-c", "core.quotePath=false", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def found(root: Path, **options: object) -> set[str]:
    source = Source(name="s", root=root)
    files = discover(source, **options).files  # type: ignore[arg-type]
    return {file.path.removeprefix("s/") for file in files}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    write_tree(root, {folder + name: "" for folder in FOLDERS for name in NAMES})
    git(root, "init", "--quiet")
    return root


segments = st.sampled_from(
    ["a", "b", "*", "**", "a.md", "*.md", "a*", "?.md", "[ab].md", "[!a].md", "[[]c]", "\\#a.md",
     "*b.md", "a b.md", "a?", "#a.md", "**.md", "***", "*a*"]
)  # fmt: skip
patterns = st.builds(
    lambda negated, rooted, parts, slash, space: (
        "!" * negated + "/" * rooted + "/".join(parts) + "/" * slash + " " * space
    ),
    st.booleans(),
    st.booleans(),
    st.lists(segments, min_size=1, max_size=3),
    st.booleans(),
    st.booleans(),
)
ignore_files = st.lists(patterns, max_size=5).map(lambda lines: "\n".join([*lines, ""]))


@needs_git
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(top="a/**\n!a/b/\n", middle="", low="")
@example(top="a/*\n!a/b\n!a/b/\na/b/*\n!a/b/a.md\n", middle="", low="")
@example(top="*/\n!b/\n", middle="", low="")
@example(top="a\n/**/\n!a\n", middle="**/#a.md", low="**/ab.md")
@example(top="a/**/\n", middle="a\na.md\n!b/***\n", low="a/**/")
@example(top="*\n!*/\n!a.md\n", middle="", low="*\n")
@example(top="\\!a\n\\#a.md\r\n", middle="", low="")
@given(top=ignore_files, middle=ignore_files, low=ignore_files)
def test_files_are_left_out_as_git_leaves_them_out(
    repository: Path, top: str, middle: str, low: str
) -> None:
    write_tree(repository, {".gitignore": top, "a": {".gitignore": middle, "b/.gitignore": low}})

    listed = git(repository, "ls-files", "-z", "--others", "--exclude-standard").split("\0")

    assert found(repository) == {name for name in listed if name.endswith(".md")}


@given(
    lines=st.lists(patterns, max_size=4),
    path=st.lists(st.text("ab.mdc#* []", min_size=1, max_size=4), min_size=1, max_size=3),
    is_folder=st.booleans(),
)
def test_the_quick_look_at_a_name_never_misses_a_match(
    lines: list[str], path: list[str], is_folder: bool
) -> None:
    compiled = Patterns(lines)

    verdict = compiled.verdict(path[-1], "/".join(path), is_folder)

    assert verdict is None or compiled.may_match(path[-1], is_folder)


def test_a_name_filter_costs_nothing_for_names_no_pattern_speaks_of() -> None:
    names = NameFilter(["node_modules", "*.log", ".env.*", "*.py[cod]"])

    assert [n for n in ("a.md", "node_modules", "x.log", ".env.b", "c.pyo") if names.passes(n)] == [
        "node_modules",
        "x.log",
        ".env.b",
        "c.pyo",
    ]


@needs_git
def test_what_a_clone_excludes_privately_is_left_out(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "", "b.md": "", "c/a.md": ""})
    git(tmp_path, "init", "--quiet")
    write_tree(tmp_path, {".git/info/exclude": "/a.md\nb.md\n", ".gitignore": "!b.md\n"})

    assert found(tmp_path) == {"b.md", "c/a.md"}
    assert found(tmp_path / "c") == {"a.md"}
    assert found(tmp_path, gitignore=False) == {"a.md", "b.md", "c/a.md"}


@needs_git
def test_a_worktree_shares_the_private_rules_of_its_repository(tmp_path: Path) -> None:
    main = write_tree(tmp_path / "main", {"a.md": "", "secret.md": ""})
    git(main, "init", "--quiet")
    git(main, "add", "a.md", "secret.md")
    git(main, "-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "-m", "m")
    git(main, "worktree", "add", "--quiet", "../tree")
    write_tree(main, {".git/info/exclude": "secret.md\n"})

    assert found(tmp_path / "tree") == {"a.md"}


def test_rules_above_the_root_hold_up_to_the_top_of_the_repository(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "outer.md\n",
            "top/.git/info/exclude": "private.md\n",
            "top/.gitignore": "/docs/notes/one.md\ntwo.md\nthree.md\n",
            "top/docs/.gitignore": "!three.md\n/notes/four.md\n",
            "top/docs/notes": {
                f"{name}.md": ""
                for name in ("outer", "private", "one", "two", "three", "four", "five")
            },
        },
    )

    assert found(tmp_path / "top/docs/notes") == {"outer.md", "three.md", "five.md"}


def test_without_a_repository_the_folders_above_the_root_do_not_count(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "*.md\n", "notes/a.md": ""})

    assert found(tmp_path / "notes") == {"a.md"}


@pytest.mark.parametrize("rule", ["*\n", "notes/\n", "/deep\n"])
def test_a_root_that_git_leaves_out_is_not_judged_by_the_rules_around_it(
    tmp_path: Path, rule: str
) -> None:
    write_tree(tmp_path, {".git/HEAD": "", ".gitignore": rule + "a.md\n", "deep/notes/a.md": ""})

    assert found(tmp_path / "deep/notes") == {"a.md"}


def test_a_repository_inside_another_is_judged_by_its_own_rules(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".git/HEAD": "",
            ".gitignore": "a.md\n",
            "a.md": "",
            "inner": {".git/info/exclude": "b.md\n", "a.md": "", "b.md": "", "sub/a.md": ""},
            "plain/a.md": "",
        },
    )

    assert found(tmp_path) == {"inner/a.md", "inner/sub/a.md"}


def test_gitignore_files_hold_without_a_repository_too(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "a.md\n", "a.md": "", "b.md": "", "c/a.md": ""})

    assert found(tmp_path) == {"b.md"}


def test_a_gitignore_that_is_a_symlink_is_passed_by_as_git_does(tmp_path: Path) -> None:
    write_tree(tmp_path, {"rules": "a.md\n", ".gitignore": Link("rules"), "a.md": ""})

    assert found(tmp_path) == {"a.md"}


@pytest.mark.parametrize(
    "raw",
    [b"\xef\xbb\xbfa.md\n", b"a.md\r\n\r\n", b"a.md", b"# note\n\na.md  \n", b"a.md\nb\xff.md"],
)
def test_a_byte_order_mark_line_ends_and_odd_bytes_do_not_disturb_a_rule(
    tmp_path: Path, raw: bytes
) -> None:
    write_tree(tmp_path, {".gitignore": raw, "a.md": "", "c.md": "", "b\udcff.md": ""})

    assert "c.md" in found(tmp_path)
    assert "a.md" not in found(tmp_path)
    assert ("b\ufffdff.md" in found(tmp_path)) == (b"\xff" not in raw)


def test_a_line_that_is_no_pattern_is_reported_and_the_others_hold(tmp_path: Path) -> None:
    write_tree(tmp_path, {"sub/.gitignore": "!\na.md\n", "sub/a.md": "", "sub/b.md": ""})

    discovery = discover(Source(name="s", root=tmp_path))

    assert [file.path for file in discovery.files] == ["s/sub/b.md"]
    assert [(p.path, p.code) for p in discovery.problems] == [("s/sub/.gitignore", "ignore-rule")]
    assert "'!'" in discovery.problems[0].message


def test_rules_tell_the_files_they_were_made_from_and_when_those_changed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    write_tree(top, {".git/HEAD": "", "notes": {".gitignore": "a.md\n", "a.md": "", "b/c.md": ""}})
    source = Source(name="s", root=top / "notes")
    rules = IgnoreRules(source)

    assert rules.is_ignored(top / "notes/a.md", False)
    assert not rules.stale()
    seen = {str(file.relative_to(top)): stamp is not None for file, stamp in rules.files.items()}
    assert seen == {".git/info/exclude": False, ".gitignore": False, "notes/.gitignore": True}

    write_tree(top, {".gitignore": "c.md\n"})
    assert rules.stale()
    assert not rules.is_ignored(top / "notes/b/c.md", False)
    assert IgnoreRules(source).is_ignored(top / "notes/b/c.md", False)


def test_rules_name_the_files_whose_events_matter(tmp_path: Path) -> None:
    write_tree(tmp_path, {".git/HEAD": "", "notes/a.md": ""})
    rules = IgnoreRules(Source(name="s", root=tmp_path / "notes"))
    rules.folder("")

    mattering = ["notes/x/.gitignore", "notes/.lancebrainignore", ".git/info/exclude", "notes/.git"]
    assert all(rules.is_rule_file(tmp_path / name) for name in mattering)
    assert not rules.is_rule_file(tmp_path / "notes/a.md")
