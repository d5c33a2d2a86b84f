"""What is taken out of commands, settings and diffs, and what must stay."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.context.contents import REMOVED
from firstbreak.context.secrets import clean_command, clean_settings, without_keys

SECRETS = (
    "export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567",
    "password = 'hunter2hunter2'",
    'api_key: "abcd-efgh-ijkl"',
    "token = 'hf_" + "a1B2" * 8 + "'",
    "https://me:s3cretword@example.org/repo.git",
    "openai.api_key = 'sk-" + "x9" * 12 + "'",
    "auth_token=Zm9vYmFyYmF6cXV1eA",
    "AWS: AKIA" + "ABCD1234" * 2,
)
KEPT = (
    "max_tokens = 512",
    "num_tokens: int = 0",
    "tokenizer = load('gpt2')",
    "key = jax.random.PRNGKey(0)",
    "state_dict.keys()",
    "lr = 3e-4",
    "passed = True",
    "sha256: " + hashlib.sha256(b"x").hexdigest(),
    "for key, value in table.items():",
)


@pytest.mark.parametrize("text", SECRETS)
def test_what_looks_like_a_secret_is_removed(text: str) -> None:
    assert REMOVED in without_keys(text)
    assert not any(
        word in without_keys(text) for word in ("hunter2", "s3cret", "0123456789abcdef", "abcd-efgh", "Zm9v")
    )


@pytest.mark.parametrize("text", KEPT)
def test_code_that_only_speaks_of_keys_stays(text: str) -> None:
    assert without_keys(text) == text


@pytest.mark.parametrize(
    ("words", "cleaned"),
    [
        (("t.py", "--api-key", "abc"), ("t.py", "--api-key", REMOVED)),
        (("t.py", "--api-key=abc"), ("t.py", f"--api-key={REMOVED}")),
        (("t.py", "wandb.api_key=abc"), ("t.py", f"wandb.api_key={REMOVED}")),
        (("t.py", "--password", "--lr", "1"), ("t.py", "--password", "--lr", "1")),
        (("t.py", "--max_tokens", "12", "--key-dim=4"), ("t.py", "--max_tokens", "12", "--key-dim=4")),
    ],
)
def test_values_of_secret_options_are_removed(words: tuple[str, ...], cleaned: tuple[str, ...]) -> None:
    assert clean_command(words) == cleaned


def test_settings_keep_numbers_and_lose_secrets() -> None:
    found = clean_settings({"lr": 3e-4, "max_tokens": 9, "db.password": 1234, "hf_token": "abc", "betas": (0.9, 0.99)})
    assert found == {
        "lr": 3e-4, "max_tokens": 9, "db.password": REMOVED, "hf_token": REMOVED, "betas": [0.9, 0.99],
    }  # fmt: skip


@given(st.lists(st.text(max_size=30), max_size=8))
def test_cleaning_keeps_the_number_of_words_and_is_done_once(words: list[str]) -> None:
    once = clean_command(words)
    assert len(once) == len(words)
    assert clean_command(once) == once
