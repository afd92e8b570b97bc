"""The notebook runs from top to bottom, with the model of the tests in place of the real one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parent.parent


def test_the_notebook_runs_from_top_to_bottom(
    stand_in: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    notebook = json.loads((PROJECT / "scripts" / "analysis.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    for number, cell in enumerate(cells):
        exec(compile(cell, f"cell {number}", "exec"), names)
    assert names["topics"].table.num_rows
    assert len(names["vectors"]) == names["chunks"].num_rows
    assert not Path(names["scratch"].name).exists()
