"""What a model is given of a chunk: its headings and its words, without the noise."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lancebrain.chunking import (
    chunk,
    chunk_hash,
    display_width,
    embedding_text,
    embedding_text_of,
)
from lancebrain.readers import read
from lancebrain.types import Document

NOISE = "QUJD" * 60


def test_the_heading_trail_stands_before_the_text() -> None:
    assert embedding_text("md", ("A", "B"), "## B\n\nWords.\n") == "A > B\n\n## B\n\nWords."
    assert embedding_text("text", (), "  Words.\n\n") == "Words."


def test_a_very_long_trail_is_cut() -> None:
    passage = embedding_text("md", ("長い見出し" * 40,) * 6, "Words.")
    assert display_width(passage) <= 240 + len("\n\nWords.")


def test_frontmatter_gives_way_to_what_it_tells() -> None:
    text = (
        "---\nid: 17\ntitle: Pears\ndate: 2026-01-02\ndescription: When to pick\n"
        "aliases: [pear tree]\ntags: fruit garden\n---\n\n# Pears\n\nIn autumn.\n"
    )
    assert embedding_text("md", ("Pears",), text) == (
        "Pears\n\nPears\nWhen to pick\npear tree\nfruit garden\n\n# Pears\n\nIn autumn."
    )


def test_toml_and_json_heads_give_way_too() -> None:
    assert embedding_text("md", (), '+++\npath = "x"\ntitle = "T"\n+++\n\nBody.\n') == "T\n\nBody."
    assert embedding_text("md", (), '{"title": "T", "x": 1}\n\nBody.\n') == "T\n\nBody."


def test_broken_frontmatter_and_that_of_plain_text_stay() -> None:
    broken = "---\ntitle: a: b\n---\n\nBody."
    assert embedding_text("md", (), broken) == broken
    assert embedding_text("text", (), "---\nx: b\n---\n\nBody.") == "---\nx: b\n---\n\nBody."


def test_what_only_looks_like_frontmatter_stays_under_its_heading() -> None:
    manifest = "---\nkind: Service\nname: pier\n---\nkind: Deployment\n---\nkind: Pod"
    assert embedding_text("md", ("Cluster",), manifest) == "Cluster\n\n" + manifest


def test_comments_link_targets_and_data_are_left_out() -> None:
    text = (
        'See [the pier](https://example.org/a_(b)?c=d "Title") '
        f"![plan](data:image/png;base64,{NOISE}) now.<!-- not\nthis -->\n\nKey: {NOISE} end."
    )
    assert embedding_text("md", (), text) == "See [the pier] ![plan] now.\n\nKey:  end."


def test_words_of_any_length_in_cjk_are_no_noise() -> None:
    text = "倉庫の移転は来月まで延期することになりました" * 10
    assert embedding_text("md", (), text) == text


def test_what_is_noise_alone_is_known_by_its_headings_and_else_as_it_is() -> None:
    assert embedding_text("md", ("Keys",), NOISE) == "Keys"
    assert embedding_text("md", (), NOISE) == NOISE
    assert embedding_text("md", (), "<!-- only this -->\n") == "<!-- only this -->"
    assert embedding_text("md", (), "---\nid: 17\n---\n") == "---\nid: 17\n---"
    assert display_width(embedding_text("md", (), "QUJD" * 5000)) == 1200


def test_long_gaps_are_closed() -> None:
    assert embedding_text("text", (), "a" + " " * 900 + "b" + "\n" * 900 + "c") == "a b\n\nc"


@given(
    st.sampled_from(["md", "text", "claude"]),
    st.lists(st.text(max_size=20), max_size=4),
    st.text(min_size=1).filter(str.strip),
)
def test_a_passage_is_never_blank(kind: str, trail: list[str], text: str) -> None:
    assert embedding_text(kind, trail, text).strip()


def test_the_later_rows_of_a_long_table_tell_what_their_columns_are_called() -> None:
    header = "| Pier | Depth at low tide | Crane |"
    rows = [f"| {n} | {n % 9} metres and a little more than that | crane {n} |" for n in range(90)]
    text = "\n".join(["# Harbour", "", header, "|---|---|---|", *rows, "", "After it.", ""])
    document = read("harbour.md", "md", text.encode())
    assert isinstance(document, Document)
    first, *later = chunk(document)
    assert first.table_header == ""
    assert len(later) > 2
    midst = [one for one in later if one.text.startswith("| ")]
    assert midst
    for one in midst:
        assert one.table_header == header
        passage = embedding_text_of("md", one)
        assert passage.startswith(f"Harbour\n\n{header}\n{one.text[:10]}")
        assert one.chunk_hash == chunk_hash(passage)
    assert "".join(one.text for one in (first, *later)) == text
