"""The model that is learned from the notes: how it learns, when again, and that it is kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lancebrain.brain import open as open_brain
from lancebrain.embedders import (
    EngineOptions,
    drift_of_embedder,
    embedder_spec,
    learn_embedder,
    load_embedder,
    lsa,
)
from lancebrain.errors import EmbedderError, ModelUnavailableError, UsageError
from lancebrain.store import PlannedChange
from lancebrain.sync import learning
from tests.trees import write_tree

pytest.importorskip("sklearn", reason="the extra is not installed")

SUBJECTS = {
    "bread": ["sourdough", "loaf", "oven", "flour", "yeast", "knead", "crust", "bake"],
    "sea": ["harbour", "sail", "anchor", "tide", "mast", "wave", "captain", "hull"],
    "law": ["court", "judge", "verdict", "appeal", "clause", "tenant", "lease", "sue"],
    "庭": ["庭の土", "種をまく", "水やり", "雑草", "苗木", "堆肥", "剪定", "花壇"],
}


def notes(each: int = 20) -> dict[str, str]:
    """Texts on four subjects; two texts of a subject share most of their words, never all."""
    return {
        f"{subject}-{number}": " ".join(
            words[(number * step + number // 3) % len(words)] for step in range(1, 6)
        )
        for subject, words in SUBJECTS.items()
        for number in range(each)
    }


@pytest.fixture
def here(tmp_path: Path) -> EngineOptions:
    return EngineOptions(index=tmp_path)


def test_texts_of_a_subject_are_near_each_other(here: EngineOptions) -> None:
    learn_embedder("lsa:8", list(notes().values()), here)
    model = load_embedder("lsa:8", here)
    queries = ["bake a loaf", "the judge and the tenant", "anchor the hull", "花壇に水やり"]
    texts = [
        "knead flour, heat the oven",
        "lease, court, appeal",
        "a captain on a wave",
        "雑草と苗木",
    ]
    near = np.stack([model.embed_query(q) for q in queries]) @ model.embed_passages(texts).T
    assert near.argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_vectors_have_length_one_whatever_the_text(here: EngineOptions) -> None:
    spec = learn_embedder("lsa:8", list(notes().values()), here)
    model = load_embedder("lsa:8", here)
    assert (model.fingerprint, model.dim) == (spec.fingerprint, spec.dim) == (spec.fingerprint, 8)
    texts = ["", "\ud800", "never seen before", "loaf", "loaf " * 900]
    vectors = model.embed_passages(texts)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert model.embed_passages([]).shape == (0, 8)


def test_fewer_texts_than_dimensions_leave_some_of_them_empty(here: EngineOptions) -> None:
    texts = [" ".join(f"w{m}x{n % m}" for m in range(2, 30)) for n in range(68)]
    spec = learn_embedder("lsa:100", texts, here)
    vectors = load_embedder("lsa:100", here).embed_passages(texts)
    assert (spec.dim, vectors.shape) == (100, (68, 100))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_same_texts_give_the_same_model(here: EngineOptions, tmp_path: Path) -> None:
    texts = list(notes().values())
    first = learn_embedder("lsa", texts * 3, here)
    other = EngineOptions(index=tmp_path / "other")
    assert other.index is not None
    other.index.mkdir()
    assert learn_embedder("lsa", texts * 3, other).fingerprint == first.fingerprint


def test_what_is_kept_holds_no_words(here: EngineOptions, tmp_path: Path) -> None:
    learn_embedder("lsa:8", list(notes().values()), here)
    (file,) = tmp_path.glob("lsa-*")
    content = file.read_bytes()
    for words in SUBJECTS.values():
        assert not any(word.encode() in content for word in words)


def test_a_model_is_described_before_and_after_it_learned(here: EngineOptions) -> None:
    before = embedder_spec("lsa:8", here)
    assert (before.dim, "unfitted" in before.fingerprint) == (8, True)
    with pytest.raises(ModelUnavailableError, match="not learned from your notes yet"):
        load_embedder("lsa:8", here).embed_query("loaf")
    learned = learn_embedder("lsa:8", list(notes().values()), here)
    assert embedder_spec("lsa:8", here).fingerprint == learned.fingerprint
    assert "unfitted" in embedder_spec("lsa:16", here).fingerprint


def test_too_little_text_is_told(here: EngineOptions) -> None:
    with pytest.raises(ModelUnavailableError, match="64 are needed"):
        learn_embedder("lsa", ["one", "two"], here)
    with pytest.raises(ModelUnavailableError, match="too few words in common"):
        learn_embedder("lsa", [f"word{n}" for n in range(99)], here)


@pytest.mark.parametrize("name", ["lsa:1", "lsa:257", "lsa:many", "lsa:"])
def test_a_number_of_dimensions_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        embedder_spec(name)


def test_texts_on_other_subjects_are_drift_and_the_same_ones_are_none(here: EngineOptions) -> None:
    texts = list(notes().values())
    spec = learn_embedder("lsa:8", texts, here)
    options = EngineOptions(index=here.index, fingerprint=spec.fingerprint)
    other = ["quark lepton boson", "量子力学と素粒子"] * 20
    assert drift_of_embedder("lsa:8", texts, options) == 0
    assert drift_of_embedder("lsa:8", texts + other, options) > 0.1
    unfitted = EngineOptions(index=here.index, fingerprint="lsa/1/unfitted/8")
    assert drift_of_embedder("lsa:8", texts, unfitted) == 1


@pytest.mark.parametrize("damage", [b"", b"PK", None])
def test_a_damaged_model_says_how_to_learn_anew(
    here: EngineOptions, tmp_path: Path, damage: bytes | None
) -> None:
    spec = learn_embedder("lsa:8", list(notes().values()), here)
    (file,) = tmp_path.glob("lsa-*")
    if damage is None:
        file.unlink()
    else:
        file.write_bytes(damage)
    wanted = EngineOptions(index=tmp_path, fingerprint=spec.fingerprint)
    with pytest.raises(EmbedderError, match="cannot be read") as caught:
        load_embedder("lsa:8", wanted)
    assert "lancebrain model use lsa" in caught.value.hint


def test_of_older_versions_the_last_few_stay_and_those_in_use(
    here: EngineOptions, tmp_path: Path
) -> None:
    texts = list(notes().values())
    made = [learn_embedder("lsa:8", texts, here)]
    in_use = [made[0].fingerprint]
    made += [
        learn_embedder("lsa:8", [*texts, *[f"loaf sail {n} {n}"] * n], here, in_use)
        for n in range(2, 7)
    ]
    assert len({spec.fingerprint for spec in made}) == 6
    assert len(list(tmp_path.glob("lsa-*"))) == 4
    assert load_embedder("lsa:8", replace(here, fingerprint=in_use[0])).dim == 8
    assert embedder_spec("lsa:8", here).fingerprint == made[-1].fingerprint


@pytest.mark.slow
def test_a_model_that_was_chosen_while_it_learned_anew_stays_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "notes"
    write_tree(root, {f"{name}.md": f"{text}\n" for name, text in notes(20).items()})
    with open_brain(tmp_path / "index", model="lsa:8") as brain:
        brain.sync([root])
        store = brain._access.store()
    chosen = PlannedChange("usem3", "usem3/x", 512, datetime(2026, 3, 1, tzinfo=UTC))
    real = learning.learned

    def slow(*arguments: Any, **options: Any) -> PlannedChange:
        planned = real(*arguments, **options)
        store.plan.put(chosen)
        return planned

    monkeypatch.setattr(learning, "MOST_DRIFT", -1.0)
    monkeypatch.setattr(learning, "learned", slow)
    assert not learning.learn_again(store, lock_timeout_s=5)
    assert store.plan.read() == chosen


@pytest.mark.slow
def test_a_model_that_cannot_learn_anew_goes_on_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "notes"
    write_tree(root, {f"{name}.md": f"{text}\n" for name, text in notes(20).items()})

    def lost(*_: Any, **__: Any) -> PlannedChange:
        raise EmbedderError("What it learns by is not installed.")

    with open_brain(tmp_path / "index", model="lsa:8") as brain:
        brain.sync([root])
        brain.sync()
        monkeypatch.setattr(learning, "MOST_DRIFT", -1.0)
        monkeypatch.setattr(learning, "learned", lost)
        (root / "more.md").write_text("More of it.\n")
        report = brain.sync()
        assert report.added == 1
        assert [one.code for one in report.problems] == ["model-unavailable"]
        assert "not installed" in report.problems[0].message
        assert brain.status().pending == 0


@pytest.mark.slow
def test_an_index_learns_from_its_notes_and_again_when_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "notes"
    write_tree(root, {f"{name}.md": f"{text}\n" for name, text in notes(10).items()})
    settings = {"model": "lsa:8"}
    with open_brain(tmp_path / "index", **settings) as brain:
        report = brain.sync([root])
        assert [problem.code for problem in report.problems] == ["model-unavailable"]
        assert brain.search("loaf").hits  # by its words
        write_tree(root, {f"{name}.md": f"{text}\n" for name, text in notes(20).items()})
        report = brain.sync()
        assert (report.problems, brain.status().pending) == ((), 0)
        found = brain.search("the captain", mode="vector", limit=5).hits
        assert {hit.path.split("-")[0] for hit in found} == {"notes/sea"}
        first = brain._access.store().info.fingerprint
    with monkeypatch.context() as patched:
        patched.setattr(lsa, "learn", None)  # a restart does not learn again
        with open_brain(tmp_path / "index", **settings) as brain:
            write_tree(root, {"sea-0.md": "tide mast wave\n"})
            assert brain.sync().embedded == 1
            assert brain.search("tide", mode="vector").hits
    physics = ["quark", "lepton", "boson", "photon", "gluon", "muon", "spin", "orbit"]
    write_tree(root, {f"physics-{n}.md": f"{' '.join(physics[n % 5 :])} {n}\n" for n in range(40)})
    with open_brain(tmp_path / "index", **settings) as brain:
        brain.sync()
        assert brain._access.store().info.fingerprint != first
        assert (brain.status().pending, brain.status().model) == (0, "lsa:8")
        found = brain.search("a boson", mode="vector", limit=3).hits
        assert {hit.path.split("-")[0] for hit in found} == {"notes/physics"}
    for file in (tmp_path / "index").glob("lsa-*"):
        file.unlink()
    with open_brain(tmp_path / "index", **settings) as brain:
        write_tree(root, {"sea-1.md": "tide mast wave anchor\n"})
        assert brain.sync().problems == ()
        assert brain.status().pending == 0
