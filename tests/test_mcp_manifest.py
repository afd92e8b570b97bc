"""What the registry of servers is told."""

from __future__ import annotations

import json
from pathlib import Path

import lancebrain

PROJECT = Path(__file__).parent.parent


def test_the_manifest_is_of_this_version_and_within_the_registrys_limits() -> None:
    about = json.loads((PROJECT / "server.json").read_text(encoding="utf-8"))
    assert about["version"] == lancebrain.__version__
    assert [package["version"] for package in about["packages"]] == [lancebrain.__version__]
    assert len(about["description"]) <= 100
    assert len(about["name"]) <= 200
