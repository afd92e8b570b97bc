"""Models behind a server, over real HTTP: Ollama's protocol and OpenAI's, and when it is down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lancebrain.brain import open as open_brain
from lancebrain.embedders import EngineOptions, connection, embedder_spec, load_embedder, servers
from lancebrain.embedders.servers import ServerEmbedder, ollama_url
from lancebrain.errors import EmbedderError, ModelUnavailableError, UsageError
from tests.embedding_server import EmbeddingServer
from tests.stand_in import DIM, StandIn
from tests.trees import write_tree


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setattr(connection, "_FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(connection, "_DOWN_S", 0.0)
    server = EmbeddingServer()
    yield server
    server.stop()


def load(server: EmbeddingServer, name: str = "ollama") -> ServerEmbedder:
    engine = load_embedder(name, EngineOptions(url=server.url))
    assert isinstance(engine, ServerEmbedder)
    return engine


@pytest.mark.parametrize("name", ["ollama", "openai:some-model"])
def test_vectors_of_a_server_have_length_one_and_the_order_of_the_texts(
    server: EmbeddingServer, name: str
) -> None:
    engine = load(server, name)
    spec = embedder_spec(name, EngineOptions(url=server.url))
    assert (engine.name, engine.dim) == (name, DIM)
    assert spec == engine.spec
    texts = [f"text {number} " + "word " * (number * 7 % 11) for number in range(40)]
    wanted = StandIn().embed_passages(texts)
    np.testing.assert_allclose(engine.embed_passages(texts), wanted, atol=1e-6)
    assert engine.embed_passages([]).shape == (0, DIM)


def test_texts_are_sent_some_at_a_time_by_their_length(server: EmbeddingServer) -> None:
    engine = load(server)
    server.requests.clear()
    engine.embed_passages(["x" * (number % 2 * 100 + 1) for number in range(40)])
    sent = [content["input"] for path, content in server.requests if path == "/api/embed"]
    assert [len(texts) for texts in sent] == [16, 16, 8]
    assert {len(text) for text in sent[0]} == {1}


def test_the_prefixes_of_the_model_are_put_before(server: EmbeddingServer) -> None:
    engine = load(server)
    engine.embed_query("where is it")
    engine.embed_passages(["here"])
    assert "query: where is it" in server.texts
    assert "here" in server.texts
    server.models["nomic-embed-text:v1.5"] = "sha256:" + "cd" * 32
    other = load(server, "ollama:nomic-embed-text:v1.5")
    other.embed_passages(["here"])
    assert server.texts[-1] == "search_document: here"


def test_other_weights_by_the_same_name_are_another_model(server: EmbeddingServer) -> None:
    engine = load(server)
    server.models["snowflake-arctic-embed2:latest"] = "sha256:" + "ef" * 32
    with pytest.raises(EmbedderError, match="another model as 'snowflake-arctic-embed2' now"):
        engine.embed_passages(["text"])
    assert load(server).fingerprint != engine.fingerprint


def test_a_model_that_the_server_lacks_says_how_to_get_it(server: EmbeddingServer) -> None:
    with pytest.raises(EmbedderError) as caught:
        load(server, "ollama:bge-m3")
    assert "ollama pull bge-m3" in caught.value.hint


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_busy_is_asked_again(server: EmbeddingServer, status: int) -> None:
    engine = load(server)
    server.headers = {"Retry-After": "0"}
    server.hurdles = [(status, b"busy"), (status, {"error": "loading"}), (status, b"")]
    assert engine.embed_passages(["x"]).shape == (1, DIM)
    assert server.hurdles == []


def test_a_server_that_is_down_is_told_with_how_to_start_it(server: EmbeddingServer) -> None:
    engine = load(server)
    server.stop()
    for attempt in (lambda: engine.embed_passages(["x"]), lambda: engine.embed_query("x")):
        with pytest.raises(ModelUnavailableError) as caught:
            attempt()
        assert server.url in caught.value.message
        assert "ollama serve" in caught.value.hint
    server.start_again()
    assert engine.embed_query("x").shape == (DIM,)


def test_while_it_is_down_nobody_waits_for_it_again(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = load(server)
    monkeypatch.setattr(connection, "_DOWN_S", 60.0)
    server.hurdles = [(503, b"")] * 4
    with pytest.raises(ModelUnavailableError, match="503"):
        engine.embed_passages(["x"])
    asked = len(server.requests)
    with pytest.raises(ModelUnavailableError, match="503"):
        engine.embed_passages(["x"])
    assert len(server.requests) == asked


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>not JSON</html>",
        [],
        {},
        {"embeddings": "none"},
        {"embeddings": [[1.0, 2.0]]},
        {"embeddings": [["a"] * DIM]},
        {"embeddings": [[0.0] * DIM]},
        {"embeddings": [[1.0] * DIM, [1.0] * DIM]},
        {"embeddings": [[1e39] * DIM]},
        {"embeddings": [[1e38] * DIM]},
        {"embeddings": [[[1.0] * DIM]]},
        {"embeddings": [[]]},
        b"[" * 100_000,
    ],
    ids=[
        "html", "list", "nothing", "text", "short", "letters", "zeros", "two", "infinite", "huge",
        "nested", "empty", "deep",
    ],
)  # fmt: skip
def test_an_answer_that_holds_no_vectors_is_an_error(
    server: EmbeddingServer, answer: object
) -> None:
    engine = load(server)
    server.hurdles = [(200, answer)]
    with pytest.raises(EmbedderError) as caught:
        engine.embed_query("x")
    assert not isinstance(caught.value, ModelUnavailableError)


@pytest.mark.parametrize("vector", [[], [[1.0] * DIM], "none", ["a"]])
def test_a_server_whose_first_vector_is_none_is_told(
    server: EmbeddingServer, vector: object
) -> None:
    server.change = lambda content: content | {"embeddings": [vector]}
    with pytest.raises(EmbedderError, match="no vector"):
        load(server)


@pytest.mark.parametrize("models", [None, ["x"], "none"])
def test_a_server_that_lists_no_models_has_not_the_one_that_is_wanted(
    server: EmbeddingServer, models: object
) -> None:
    server.hurdles = [(200, {"models": models})]
    with pytest.raises(EmbedderError, match="ollama pull"):
        load(server)


def test_an_answer_that_cannot_be_unpacked_counts_as_none(server: EmbeddingServer) -> None:
    engine = load(server)
    server.headers = {"Content-Encoding": "gzip"}
    with pytest.raises(ModelUnavailableError):
        engine.embed_query("x")


def test_vectors_that_name_no_text_of_their_own_are_refused(server: EmbeddingServer) -> None:
    engine = load(server, "openai:m")
    server.change = lambda content: {"data": [entry | {"index": 0} for entry in content["data"]]}
    with pytest.raises(EmbedderError, match="no embeddings"):
        engine.embed_passages(["one", "two"])


def test_what_the_server_says_is_passed_on(server: EmbeddingServer) -> None:
    engine = load(server, "openai:m")
    server.hurdles = [(400, {"error": {"message": "input is too long"}})]
    with pytest.raises(EmbedderError, match="input is too long"):
        engine.embed_query("x")


@pytest.mark.parametrize("name", ["ollama", "openai:m"])
def test_a_text_that_the_server_fails_on_keeps_no_other_from_its_vector(
    server: EmbeddingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    files = {f"{n}.md": f"# Note {n}\n\nA quokka smiles.\n" for n in range(20)}
    write_tree(tmp_path / "notes", files | {"bad.md": "# Quoll\n"})
    server.fail_on = "Quoll"
    settings = {"model": name, "model_url": server.url}
    with open_brain(tmp_path / "index", **settings) as brain:
        report = brain.sync([tmp_path / "notes"])
        assert (report.added, report.embedded) == (21, 20)
        assert [(one.path, one.code) for one in report.problems] == [
            ("notes/bad.md", "text-refused")
        ]
        assert "too large" in report.problems[0].message
        assert brain.status().pending == 1
        assert brain.search("quokka", mode="vector").hits
        server.fail_on = None
        assert brain.sync().embedded == 1


def test_a_question_that_the_server_fails_on_is_answered_by_words(
    server: EmbeddingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path / "notes", {"a.md": "# Alpha\n\nA quokka smiles.\n"})
    with open_brain(tmp_path / "index", model="ollama", model_url=server.url) as brain:
        brain.sync([tmp_path / "notes"])
        server.fail_on = "quokka"
        answer = brain.search("quokka")
    assert [hit.path for hit in answer.hits] == ["notes/a.md"]
    assert any("too large" in note for note in answer.notes)


def test_with_other_weights_texts_are_taken_in_and_questions_answered_by_words(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    write_tree(tmp_path / "notes", {"a.md": "# Alpha\n\nA quokka smiles.\n"})
    settings = {"model": "ollama", "model_url": server.url, "look_interval_s": 0.0}
    with open_brain(tmp_path / "index", **settings) as brain:
        brain.sync([tmp_path / "notes"])
    server.models["snowflake-arctic-embed2:latest"] = "sha256:" + "ef" * 32
    write_tree(tmp_path / "notes", {"b.md": "# Beta\n\nA quoll runs.\n"})
    with open_brain(tmp_path / "index", **settings) as brain:
        report = brain.sync()
        assert (report.added, [one.code for one in report.problems]) == (1, ["model-unavailable"])
        answer = brain.search("quoll")
        assert [hit.path for hit in answer.hits] == ["notes/b.md"]
        assert any("another model" in note for note in answer.notes)
        brain.use_model("ollama")
        assert (brain.status().pending, brain.search("quoll").notes) == (0, ())


def test_a_question_is_not_embedded_by_other_weights_than_the_notes(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = load(server)
    monkeypatch.setattr(servers, "_SEEN_S", 0.0)
    engine.embed_query("x")
    server.models["snowflake-arctic-embed2:latest"] = "sha256:" + "ef" * 32
    with pytest.raises(ModelUnavailableError, match="another model"):
        engine.embed_query("x")


def test_a_text_that_http_cannot_carry_is_carried_all_the_same(server: EmbeddingServer) -> None:
    assert load(server).embed_passages(["a\ud800b\x00"]).shape == (1, DIM)


def test_the_protocol_of_openai_needs_the_name_of_a_model() -> None:
    with pytest.raises(UsageError):
        embedder_spec("openai")


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        (":1234", "http://127.0.0.1:1234"),
        ("box", "http://box:11434"),
        ("http://box", "http://box:80"),
        ("https://box/ollama/", "https://box:443/ollama"),
        ("https://box:9000", "https://box:9000"),
        ("'localhost:11435'", "http://localhost:11435"),
    ],
)
def test_the_address_is_read_as_ollama_reads_it(host: str, url: str) -> None:
    assert ollama_url(host) == url


def test_the_variable_of_ollama_tells_where_it_is(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.port}")
    assert load_embedder("ollama").dim == DIM


def test_while_the_server_is_down_texts_are_taken_in_and_found_by_their_words(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    write_tree(tmp_path / "notes", {"a.md": "# Alpha\n\nA quokka smiles.\n"})
    settings = {"model": "ollama", "model_url": server.url, "look_interval_s": 0.0}
    with open_brain(tmp_path / "index", **settings) as brain:
        assert brain.sync([tmp_path / "notes"]).embedded == 1
        server.stop()
        write_tree(tmp_path / "notes", {"b.md": "# Beta\n\nA wombat digs.\n"})
        report = brain.sync()
        assert (report.added, report.embedded) == (1, 0)
        assert [problem.code for problem in report.problems] == ["model-unavailable"]
        answer = brain.search("wombat")
        assert [hit.path for hit in answer.hits] == ["notes/b.md"]
        assert any("does not answer" in note for note in answer.notes)
        assert answer.pending == 1
        with pytest.raises(ModelUnavailableError):
            brain.search("wombat", mode="vector")
    server.start_again()
    with open_brain(tmp_path / "index", **settings) as brain:
        report = brain.sync()
        assert (report.embedded, report.version) == (1, brain.status().version)
        answer = brain.search("wombat", mode="vector")
        assert (answer.hits[0].path, answer.pending, answer.notes) == ("notes/b.md", 0, ())


def test_an_index_is_opened_and_asked_while_its_server_is_down(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    write_tree(tmp_path / "notes", {"a.md": "# Alpha\n\nA quokka smiles.\n"})
    settings = {"model": "ollama", "model_url": server.url}
    with open_brain(tmp_path / "index", **settings) as brain:
        brain.sync([tmp_path / "notes"])
    server.stop()
    with open_brain(tmp_path / "index", **settings) as brain:
        answer = brain.search("quokka")
        assert [hit.path for hit in answer.hits] == ["notes/a.md"]
        assert any("ollama serve" in note for note in answer.notes)
    server.start_again()
