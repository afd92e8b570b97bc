"""Bytes → text: every encoding that notes are found in, and what is no text at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.readers import read
from lancebrain.readers.decode import Decoded, decode, encode
from lancebrain.types import Document, Problem

JAPANESE = "# 議事録\n\n目印の船。倉庫の移転は来月まで延期することになりました。\n"
SIMPLIFIED = "# 会议记录\n\n我们讨论了仓库搬迁的费用，决定推迟到下个月。\n"
TRADITIONAL = "# 會議記錄\n\n我們討論了倉庫搬遷的費用，決定延後到下個月。\n"
KOREAN = "# 회의록\n\n창고 이전 계획은 다음 달로 연기되었습니다.\n"
FRENCH = "# Café\n\nLa crème brûlée est déjà commandée.\n"
GERMAN = "# Größe\n\nStraße sperren – „fertig“.\n"
RUSSIAN = "# Заметка\n\nЭто короткая заметка о переносе склада. Совещание перенесли на июнь.\n"
THAI = "# บันทึก\n\nการย้ายโกดังถูกเลื่อนไปเดือนมิถุนายนเพราะงบประมาณไม่พอ\n"


def decoded(data: bytes) -> Decoded:
    found = decode(data)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (SIMPLIFIED, "gbk"),
        (SIMPLIFIED, "gb18030"),
        (TRADITIONAL, "big5"),
        (KOREAN, "euc_kr"),
        (FRENCH, "latin-1"),
        (GERMAN, "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (THAI, "cp874"),
    ],
)
def test_a_legacy_encoding_is_found_and_gives_the_bytes_back(text: str, codec: str) -> None:
    data = text.encode(codec)
    found = decoded(data)
    assert found.text == text
    assert found.lossless
    assert encode(found.text, found.encoding) == data


@pytest.mark.parametrize("text", [JAPANESE, SIMPLIFIED, TRADITIONAL, KOREAN, FRENCH, RUSSIAN])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_found(text: str, codec: str) -> None:
    found = decoded(text.encode(codec))
    assert (found.text, found.encoding, found.lossless) == (text, codec, True)


@pytest.mark.parametrize(
    ("mark", "codec", "encoding"),
    [
        (b"\xef\xbb\xbf", "utf-8", "utf-8-sig"),
        (b"\xff\xfe", "utf-16-le", "utf-16"),
        (b"\xff\xfe\0\0", "utf-32-le", "utf-32"),
    ],
)
def test_a_byte_order_mark_is_no_text_and_comes_back(
    mark: bytes, codec: str, encoding: str
) -> None:
    data = mark + JAPANESE.encode(codec)
    found = decoded(data)
    assert (found.text, found.encoding, found.lossless) == (JAPANESE, encoding, True)
    assert encode(found.text, found.encoding) == data


def test_a_big_endian_mark_is_read_and_its_bytes_are_kept_raw() -> None:
    data = b"\xfe\xff" + JAPANESE.encode("utf-16-be")
    document = read("notes/a.md", "md", data)
    assert isinstance(document, Document)
    assert (document.text, document.raw) == (JAPANESE, data)


def test_one_stray_byte_in_ascii_becomes_a_replacement_character() -> None:
    assert decoded(b"before \xaf and after it\n").text == "before \ufffd and after it\n"
    assert decoded(b"\xff").text == "\ufffd"


def test_a_stray_byte_in_utf8_leaves_the_rest_alone_and_is_reported() -> None:
    data = JAPANESE.encode() + b"\x80" + FRENCH.encode()
    document = read("notes/a.md", "md", data)
    assert isinstance(document, Document)
    assert document.text == JAPANESE + "\ufffd" + FRENCH
    assert document.raw == data
    assert [problem.code for problem in document.problems] == ["bytes-replaced"]
    assert document.problems[0].path == "notes/a.md"


def test_a_utf8_file_cut_inside_its_last_character_is_still_utf8() -> None:
    found = decoded(JAPANESE.encode()[:-2])
    assert found.text.startswith(JAPANESE[:-3])
    assert found.encoding == "utf-8"


def test_nuls_are_dropped_and_the_bytes_kept() -> None:
    padded = b"# Padded\n\nA marker.\n" + b"\0" * 4096
    document = read("notes/a.md", "md", padded)
    assert isinstance(document, Document)
    assert document.text == "# Padded\n\nA marker.\n"
    assert document.raw == padded
    assert decoded(b"left \0 right").text == "left  right"


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 4,
        b"%PDF-1.7\nlooks like text at first\n",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"PK\x03\x04notes.txt",
        b"\x01\x02\x03\x04\x05\x06" * 100,
    ],
)
def test_binary_is_refused_with_a_reason(data: bytes) -> None:
    for kind in ("md", "text"):
        refused = read("notes/a.md", kind, data)
        assert isinstance(refused, Problem)
        assert (refused.path, refused.code) == ("notes/a.md", "not-text")


@pytest.mark.parametrize(
    "text", ["a\r\nb\r\n", "a\rb\r", "a\nb\r\nc\rd", "a\x0bb\x0cc\u2028d\x85e"]
)
def test_line_ends_are_those_of_the_file(text: str) -> None:
    assert decoded(text.encode()).text == text


@pytest.mark.parametrize("data", [b"", b"\n\n", b"  \t\r\n", "　\n".encode()])
def test_a_blank_text_keeps_its_bytes_since_no_chunk_does(data: bytes) -> None:
    document = read("notes/a.md", "md", data)
    assert isinstance(document, Document)
    assert document.blocks == ()
    assert document.raw == (data or None)


def test_a_terminal_log_with_colours_is_text() -> None:
    assert decoded(b"\x1b[31merror\x1b[0m at line 3\n" * 20).text.count("error") == 20


@given(st.text(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030"]))
def test_what_is_lossless_comes_back_byte_for_byte(text: str, codec: str) -> None:
    try:
        data = encode(text, codec)
    except UnicodeEncodeError:
        return  # half a surrogate pair: no file holds it
    found = decode(data)
    if found is not None and found.lossless:
        assert encode(found.text, found.encoding) == data


@given(
    st.binary(max_size=300)
    | st.lists(st.sampled_from([b"\0", b"a", b"\xe3\x81\x82", b"\xff", b"\n", b"\x82\xa0"])).map(
        b"".join
    )
)
def test_no_bytes_raise_and_none_are_lost(data: bytes) -> None:
    for kind in ("md", "text"):
        document = read("x", kind, data)
        if isinstance(document, Problem):
            continue
        assert "\0" not in document.text
        document.text.encode()
        assert document.raw == data or encode(document.text, document.encoding) == data
