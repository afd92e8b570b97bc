"""Secrets are masked before a text is kept. Every secret here is invented, and put together only
while the tests run, so that no scanner takes this file for a leak."""

from __future__ import annotations

import base64
import json
import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancebrain.readers import secrets
from tests.session_logs import Claude, codex_meta, codex_said, document, jsonl, said, text

CHANCE = random.Random(7)
ALPHANUMERIC = string.ascii_letters + string.digits


def mask(text: str) -> tuple[str, int]:
    return secrets.mask([text])[0]


def made(length: int, alphabet: str = ALPHANUMERIC) -> str:
    return "".join(CHANCE.choice(alphabet) for _ in range(length - 2)) + "a1"


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


UPPER = string.ascii_uppercase + "234567"
JWT = f"{encoded({'alg': 'HS256'})}.{encoded({'sub': '12345', 'name': 'Ana'})}.{made(43)}"
KEY = "\n".join(made(64) for _ in range(6))
SECRETS = {
    "anthropic": "sk-" + "ant-api03-" + made(93) + "AA",
    "anthropic oauth": "sk-" + "ant-oat01-" + made(60),
    "openai": "sk-" + made(20) + "T3Blbk" + "FJ" + made(20),
    "openai project": "sk-" + "proj-" + made(74) + "T3Blbk" + "FJ" + made(74),
    "a service's key": "sk-" + made(48),
    "github": "gh" + "p_" + made(36),
    "github of low entropy": "gh" + "p_" + "a1" * 18,
    "github fine-grained": "github" + "_pat_" + made(22) + "_" + made(59),
    "slack": "xo" + "xb-" + made(12, string.digits) + "-" + made(24),
    "aws id": "AK" + "IA" + made(14, UPPER).upper() + "QZ",
    "google": "AI" + "za" + made(35),
    "stripe": "sk" + "_live_" + made(24),
    "gitlab": "gl" + "pat-" + made(20),
    "npm": "np" + "m_" + made(36),
    "hugging face": "h" + "f_" + made(34, string.ascii_letters)[:-2] + "Qz",
    "sendgrid": "S" + "G." + made(22) + "." + made(43),
    "telegram": made(9, "23456789")[:-2] + "42:A" + "A" + made(33),
    "digitalocean": "do" + "p_v1_" + made(64, "0123456789abcdef"),
    "xai": "xa" + "i-" + made(80),
    "jwt": JWT,
    "private key": f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{KEY}\n-----END RSA {'PRIVATE'} KEY-----",
    "private key cut off": f"-----BEGIN {'PRIVATE'} KEY-----\n{KEY}",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize(
    "around", ["Use {} now.", "KEY: '{}'", "鍵は {} です", "鍵は{}です。", "x\n{}\ny"]
)
def test_a_known_token_is_masked_and_what_is_around_it_stays(secret: str, around: str) -> None:
    before, after = around.split("{}")
    masked, count = mask(around.format(secret))
    assert count == 1
    assert masked.startswith(before + "[secret: ")
    assert masked.endswith("]" + after)


@pytest.mark.parametrize(
    ("words", "secret"),
    [
        ("Authorization: Bearer {}", made(40)),
        ("curl -H 'authorization: bearer {}' api", made(32)),
        ("接続先はpostgres://ana:{}@db.example.comです", made(12)),
        ("環境変数DB_PASSWORD={}", made(14)),
        ("postgres://ana:{}@db.example.com:5432/ship", made(12)),
        ("redis://:{}@cache:6379", made(12)),
        ("https://example.com/cb?access_token={}&x=1", made(20)),
        ("https://example.com/?user=ana&password={}", made(9)),
        ("DB_PASSWORD={}", made(14)),
        ('export STRIPE_API_KEY="{}"', made(24)),
        ("aws_secret_access_key = '{}'", made(40, ALPHANUMERIC + "/+")),
        ('"AWS_SECRET_ACCESS_KEY": "{}"', made(40, ALPHANUMERIC + "/+")),
    ],
)
def test_a_password_or_token_is_masked_where_its_place_tells_that_it_is_one(
    words: str, secret: str
) -> None:
    masked, count = mask(words.format(secret))
    assert secret not in masked
    assert count == 1
    assert masked.split("[secret: ")[0] == words.split("{}")[0]


ORDINARY = [
    "Run git show 3f2a9c0d4e5b6a7f8091a2b3c4d5e6f708192a3b and compare.",
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "The session is 7b0c2f5e-1111-4a2b-9c3d-000000000001.",
    "![](data:image/png;base64," + base64.b64encode(bytes(range(256)) * 3).decode() + ")",
    "password = os.environ['DB_PASSWORD']",
    "def login(user: str, password: str, token: str | None = None) -> Token: ...",
    "Set OPENAI_API_KEY=<your-key> or OPENAI_API_KEY=$KEY in .env",
    "Set GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }} in the workflow.",
    "Authorization: Bearer <token>",
    "Bearer tokens are explained in authentication-and-authorization.md",
    "postgres://user:password@localhost/db and https://user:$PASS@host/",
    "https://example.com/reset?token=<token>&password=...",
    "see http://localhost:8080/a:b@c and git@github.com:ana/ship.git",
    "-----BEGIN CERTIFICATE-----",
    "A key begins with sk-, a token with ghp_, an id with AKIA.",
    "class SkContainer { sk-loading-indicator-container: none }",
    "MAX_TOKENS=4096 and TOKEN_LIMIT=200000",
    "from sklearn.linear_model import LogisticRegressionCV",
    "eyJ is how every JSON object begins in base64",
    "src/very_long_module_name_for_testing/another_long_package_name.py:123",
    "The vector 0.123456789012345678 and 1234567890123456789012 rows",
    "検索のたびにキャッシュを使う。密码是什么？",
]


@pytest.mark.parametrize("words", ORDINARY)
def test_ordinary_words_code_and_hashes_stay(words: str) -> None:
    assert mask(words) == (words, 0)


def test_several_secrets_are_masked_each_and_named() -> None:
    words = f"First {SECRETS['github']}, then {SECRETS['aws id']}; again {SECRETS['github']}."
    masked, count = mask(words)
    assert count == 3
    kinds = [part.split("]")[0] for part in masked.split("[secret: ")[1:]]
    assert kinds[0] == kinds[2]
    assert "github" in kinds[0]
    assert kinds[1] == "aws-access-key-id"
    assert mask(masked) == (masked, 0)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40), st.sampled_from(sorted(SECRETS)), st.text(max_size=40))
def test_a_secret_is_gone_whatever_characters_are_around_it(
    before: str, name: str, after: str
) -> None:
    masked, count = mask(f"{before} {SECRETS[name]} {after}")
    assert SECRETS[name] not in masked
    assert count >= 1


def test_in_a_log_secrets_are_masked_in_text_question_and_title_and_counted() -> None:
    token = SECRETS["github"]
    log = Claude()
    data = jsonl(
        log.user(f"Deploy with {token}"),
        log.result(f"NO {token}"),
        log.assistant("Done.", id="m1"),
        log.assistant(f"I used {token}", id="m2"),
        {"type": "summary", "summary": f"Deploy {token}", "leafUuid": "x"},
    )
    found = document("claude", data, mask_secrets=True)
    assert token not in repr(found)
    assert said(found)[0] == ("user", "Deploy with [secret: github-token]")
    assert found.blocks[1].heading_path == ("Deploy with [secret: github-token]",)
    assert found.title == "Deploy [secret: github-token]"
    assert found.metadata["masked_secrets"] == 2
    open_document = document("claude", data, mask_secrets=False)
    assert said(open_document)[0] == ("user", f"Deploy with {token}")
    assert "masked_secrets" not in open_document.metadata


def test_the_count_goes_on_and_a_repeated_turn_counts_once() -> None:
    row = codex_said("user", f"Use {SECRETS['slack']}")
    assert (
        document("codex", jsonl(codex_meta(), row, row), mask_secrets=True).metadata[
            "masked_secrets"
        ]
        == 2
    )
    log = Claude()
    question = log.user([text(f"Use {SECRETS['slack']}")])
    found = document("claude", jsonl(question, question), mask_secrets=True)
    assert found.metadata["masked_secrets"] == 1


def test_texts_are_masked_each_by_itself_however_many_they_are() -> None:
    key = SECRETS["private key"]
    halves = [key[:100], key[100:]]
    texts = [*ORDINARY, *SECRETS.values(), "x " * 70_000, *halves, SECRETS["jwt"]]
    assert secrets.mask(texts) == [mask(text) for text in texts]
    assert secrets.no_mask(texts) == [(text, 0) for text in texts]


def test_the_rules_are_not_loaded_for_words_that_hold_no_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(secrets, "_scanner", refuse)
    assert mask("What did we decide about the cache, and why?")[1] == 0
