"""Names → engines: the registry, and engines of the user's own kept to their promises."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from lancebrain.embedders import EngineOptions, embedder_spec, engines, load_embedder
from lancebrain.embedders.custom import Checked
from lancebrain.embedders.measuring import measure
from lancebrain.errors import EmbedderError, ModelUnavailableError, UsageError
from tests import stand_in
from tests.conftest import PROJECT
from tests.stand_in import StandIn


class Odd(StandIn):
    """A stand-in that returns what it is told to."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self._answer = answer

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer  # type: ignore[return-value]

    embed_query = embed_passages  # type: ignore[assignment]


def test_an_unknown_name_is_a_usage_error_that_names_the_nearest_and_all_engines() -> None:
    with pytest.raises(UsageError) as caught:
        load_embedder("usem4")
    assert "'usem3'?" in str(caught.value)
    assert all(name in str(caught.value) for name in engines())


def test_a_name_near_to_nothing_suggests_nothing() -> None:
    with pytest.raises(UsageError) as caught:
        embedder_spec("text-embedding-large")
    assert "Did you mean" not in str(caught.value)
    assert "usem3" in str(caught.value)


def test_an_own_engine_whose_module_is_gone_cannot_be_had_now() -> None:
    with pytest.raises(ModelUnavailableError, match="install the package"):
        load_embedder("no.such.module:make")


@pytest.mark.parametrize("name", ["json:no_such_thing", ":make", "json:"])
def test_an_own_engine_that_does_not_exist_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError):
        load_embedder(name)


def test_an_own_engine_whose_factory_fails_is_an_embedder_error() -> None:
    with pytest.raises(EmbedderError, match="failed to load"):
        load_embedder("json:loads")


def test_an_own_engine_that_lacks_what_an_embedder_has_is_named_so() -> None:
    with pytest.raises(EmbedderError, match="lacks fingerprint, dim"):
        load_embedder("collections:OrderedDict")


def test_a_folder_or_a_name_on_the_hub_without_its_engine_is_told_so() -> None:
    with pytest.raises(UsageError) as caught:
        load_embedder("./models/mine")
    assert "sentence-transformers:./models/mine" in caught.value.hint


def test_an_own_engine_loads_by_module_and_factory_and_its_spec_agrees() -> None:
    engine = load_embedder("tests.stand_in:make")
    spec = embedder_spec("tests.stand_in:make")
    assert engine.name == spec.name == "tests.stand_in:make"
    assert (engine.fingerprint, engine.dim) == (spec.fingerprint, spec.dim)
    assert engine.embed_passages(["a", "b"]).shape == (2, engine.dim)
    assert engine.embed_passages([]).shape == (0, engine.dim)
    np.testing.assert_array_equal(engine.embed_query("a"), engine.embed_passages(["a"])[0])


@pytest.mark.parametrize(
    "answer",
    [
        RuntimeError("out of cheese"),
        np.ones((2, 64)),
        np.full((1, 64), np.nan),
        np.zeros((1, 64)),
        np.ones((1, 63)) / np.sqrt(63),
        [["not", "numbers"]],
        None,
    ],
    ids=["raises", "wrong-count", "nan", "zero", "wrong-dim", "strings", "none"],
)
def test_an_own_engine_never_passes_a_bad_vector_on(answer: object) -> None:
    engine = Checked("own", Odd(answer))
    with pytest.raises(EmbedderError, match="'own'"):
        engine.embed_passages(["text"])
    with pytest.raises(EmbedderError, match="'own'"):
        engine.embed_query("text")


@pytest.mark.parametrize(
    ("says", "expected"),
    [
        ({}, {}),
        ({"languages": None}, {}),
        ({"languages": ("en", "ja")}, {"en": 1.0, "ja": 1.0}),
        ({"languages": {"en": 1, "ja": 0.5}}, {"en": 1.0, "ja": 0.5}),
    ],
)
def test_an_own_engine_may_say_little_of_its_languages(
    says: dict[str, object], expected: dict[str, float]
) -> None:
    engine = Odd(None)
    vars(engine).update(says)
    assert Checked("own", engine).languages == expected


@pytest.mark.parametrize(
    "says",
    [
        {"languages": "en"},
        {"languages": {"en": 2}},
        {"languages": {"en": "much"}},
        {"fusion_weight": 1.5},
        {"fusion_weight": None},
        {"dim": "long"},
        {"dim": 0},
        {"dim": 8.0},
        {"fingerprint": ""},
        {"fingerprint": None},
    ],
)
def test_an_own_engine_that_says_nonsense_of_itself_is_told(
    says: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> StandIn:
        engine = StandIn()
        vars(engine).update(says)
        return engine

    monkeypatch.setattr(stand_in, "make", make)
    with pytest.raises(EmbedderError, match="does not say what it is"):
        load_embedder("tests.stand_in:make")


def test_the_stand_in_counts_its_work_and_gives_shared_words_near_vectors() -> None:
    engine = StandIn()
    vectors = engine.embed_passages(
        ["the red fox", "a red fox", "日本語の検索", "", "日本語の検索"]
    )
    assert engine.calls == 1
    assert len(engine.texts) == 5
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(vectors[2], vectors[4])
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]


def test_the_memory_of_a_model_is_not_that_of_whoever_measures_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    ballast = b"x" * (500 << 20)
    cost = measure("tests.stand_in:make", ["a text"], EngineOptions(), seconds=0.01)
    assert 10 < cost.memory_mb < len(ballast) >> 20
