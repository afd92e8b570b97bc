"""What is known of models that people use: prefixes, lengths, languages, by family. Plain values.

For any engine, as the same model is ``intfloat/multilingual-e5-small`` in one place and
``multilingual-e5-small`` in another. What a model's own configuration says goes first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

DEFAULT_FUSION_WEIGHT = 0.4
"""Did well for every engine that was measured, weak or strong."""

_SEARCHING = "Represent this sentence for searching relevant passages: "
_INSTRUCT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
_ENGLISH = {"en": 1.0}


@dataclass(frozen=True, slots=True)
class Preset:
    """A family of models.

    Attributes:
        names: a regular expression that is found in the names of its models, in lower case.
        query, passage: what is put before a question, and before a text to be found.
        max_tokens: the longest text that it reads; what is beyond is cut off.
        pooling: how a text's vector is made of its tokens', where the model does not say.
        languages: see :class:`~lancebrain.embedders.base.Embedder`; empty for so many that a
            question's does not matter.
        fusion_weight: the vectors' share in the fused score; see ``docs/models.md``.
    """

    names: str
    query: str = ""
    passage: str = ""
    max_tokens: int = 512
    pooling: str = "mean"
    languages: Mapping[str, float] = field(default_factory=dict)
    fusion_weight: float = 0.5


PRESETS = (
    Preset(r"ruri-v3", "検索クエリ: ", "検索文書: ", 8_192, languages={"ja": 1.0}),
    Preset(r"multilingual-e5.*instruct", f"{_INSTRUCT} "),
    Preset(r"multilingual-e5", "query: ", "passage: "),
    Preset(r"\be5-(small|base|large)", "query: ", "passage: ", languages=_ENGLISH),
    Preset(r"bge-m3", max_tokens=8_192, pooling="cls"),
    Preset(r"all-minilm", max_tokens=256, languages=_ENGLISH, fusion_weight=0.4),
    Preset(r"paraphrase-multilingual-minilm", max_tokens=128, fusion_weight=0.4),
    Preset(r"embeddinggemma", "task: search result | query: ", "title: none | text: ", 2_048),
    Preset(r"arctic-embed(2|.*-v2\.0)", "query: ", "", 8_192, pooling="cls"),
    Preset(r"arctic-embed", _SEARCHING, pooling="cls", languages=_ENGLISH),
    Preset(r"qwen3-embedding", _INSTRUCT, max_tokens=32_768, pooling="lasttoken"),
    Preset(r"nomic-embed-text-v2", "search_query: ", "search_document: "),
    Preset(r"nomic-embed-text", "search_query: ", "search_document: ", 8_192, languages=_ENGLISH),
    Preset(r"mxbai-embed", _SEARCHING, pooling="cls", languages=_ENGLISH),
)
_UNKNOWN = Preset("", fusion_weight=DEFAULT_FUSION_WEIGHT)


def preset_of(name: str) -> Preset:
    """What is known of a model, by its name; of one that is not known, what does for all.

    Args:
        name: with its owner or a tag, if it has them: ``bge-m3:latest``, ``BAAI/bge-m3``; or a
            folder, of whose path the end counts.
    """
    end = "/".join(PurePath(name.lower()).parts[-2:]).replace("_", "-").partition(":")[0]
    return next((preset for preset in PRESETS if re.search(preset.names, end)), _UNKNOWN)
