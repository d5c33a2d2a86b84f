"""Credentials among the settings that a loop hands over never reach the record; all other settings do, as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstbreak.monitor import Monitor
from firstbreak.readers.credentials import without_credentials

SECRET = "0123456789abcdef0123456789abcdef01234567"
KEPT: dict[str, Any] = {
    "pad_token": "<pad>", "stop_token": "eos", "tokenizer": "tiny", "sort_key": "length", "max_tokens": 64,
    "gamma": 0.99, "author": "somebody", "key_dim": 8, "token_level": "sequence", "hub_model_id": "me/model",
    "commit": SECRET, "rewards": ["format", "answer"], "env": {"id": "CartPole-v1", "api_version": 2, "secret_word": 3},
}  # fmt: skip


@pytest.mark.parametrize(
    "config",
    [
        {"wandb_api_key": SECRET},
        {"hub_token": SECRET},
        {"token": SECRET},
        {"service": {"password": SECRET, "access-key": SECRET}},
        {"callbacks": [{"webhook_url": f"https://hooks.example.org/{SECRET}"}]},
        {"command": f"train --login hf_{SECRET} --steps 5"},
        {"tracker": f"https://user:{SECRET}@mlflow.example.org/path"},
        {"keys": {"OPENAI_API_KEY": SECRET}},
        {"note": f"sk-{SECRET}"},
    ],
)
def test_a_credential_is_not_in_the_record(tmp_path: Path, config: dict[str, Any]) -> None:
    with Monitor(tmp_path, algorithm="PPO", config={**config, "clip_range": 0.2}) as monitor:
        monitor.configure(config)
        monitor.log({"policy/kl_old": 0.01}, step=1)
    written = "".join(part.read_text("utf-8") for part in (tmp_path / "firstbreak").iterdir())
    assert SECRET not in written
    assert "[removed]" in written
    assert '"clip_range":0.2' in written
    assert monitor.faults == []


def test_settings_that_only_sound_alike_stay() -> None:
    assert without_credentials(KEPT) == KEPT
    assert without_credentials({"token": ""}) == {"token": ""}  # one that was never given is worth knowing
