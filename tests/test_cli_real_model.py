"""The whole way with the default model: the vault of the demo, asked in three languages."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import PROJECT, Ran

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the vault, with its index beside it."""
    import lancebrain

    folder = tmp_path_factory.mktemp("vault")
    vault = Path(shutil.copytree(PROJECT / "demo" / "vault", folder / "vault"))
    with lancebrain.open(folder / "index", model="usem3", sources=[]) as brain:
        report = brain.sync([vault])
    assert report.embedded > report.added
    return vault


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("how metal crates let factories send goods overseas for pennies", "reading/The Box.md"),
        ("太古の大木に会うため、どのくらい歩いたか", "暮らし/旅行/屋久島 縄文杉.md"),
        ("宠物蹲了一宿厕所却尿不了", "生活/家里/豆包的病历.md"),
        ("blossom end rot on my tomatoes", "暮らし/家庭菜園/2026年のトマト.md"),
        ("cat emergency with a blocked urethra", "生活/家里/豆包的病历.md"),
        ("ラベルプリンターが一枚おきにしか印字しない", "office/runbooks/Label printers.md"),
        ("二胡の練習で右手首が硬くなる", "生活/学习/学二胡.md"),
        ("集装箱是怎么改变航运的", "reading/The Box.md"),
        ("米糠腌菜表面长了一层白膜", "暮らし/料理/ぬか床.md"),
        ("WHK-4031", "office/runbooks/Rotate webhook secrets.md"),
    ],
)
def test_a_question_finds_its_note_also_in_another_language(
    vault: Path, lb: Callable[..., Ran], question: str, path: str
) -> None:
    found = lb("search", question, "-n", 3, "--index", vault.parent / "index", "--json").json
    assert f"vault/{path}" in [hit["path"] for hit in found["hits"]]
    assert found["pending"] == 0


def test_one_edit_embeds_one_chunk_and_is_found_by_its_meaning(
    vault: Path, lb: Callable[..., Ran]
) -> None:
    note = vault / "暮らし/料理/ぬか床.md"
    note.write_bytes(note.read_bytes() + "\n## 予備\n\n予備の樽は物置の棚の上にある。\n".encode())
    index = vault.parent / "index"
    report = lb("sync", "--index", index, "--json").json
    assert (report["changed"], report["embedded"]) == (1, 1)
    found = lb("search", "where is the spare barrel kept", "-n", 3, "--index", index, "--json").json
    assert "vault/暮らし/料理/ぬか床.md" in [hit["path"] for hit in found["hits"]]


def test_keywords_need_no_model_and_meaning_needs_no_keyword(
    vault: Path, lb: Callable[..., Ran]
) -> None:
    index = vault.parent / "index"
    by_word = lb("search", "缬沙坦", "--mode", "keyword", "-n", 1, "--index", index, "--json").json
    assert by_word["hits"][0]["path"] == "vault/生活/健康/爸爸的血压记录.md"
    by_meaning = lb(
        "search", "高血圧の薬", "--mode", "vector", "-n", 3, "--index", index, "--json"
    ).json
    assert "vault/生活/健康/爸爸的血压记录.md" in [hit["path"] for hit in by_meaning["hits"]]
