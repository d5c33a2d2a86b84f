"""A newer TRL has no PPO trainer: what to install is said, for the invariants and for the ladder."""

from __future__ import annotations

import pytest

from firstbreak.errors import InputError, UnknownNameError
from firstbreak.preflight.tokens.subjects import token_pieces
from firstbreak.probes.tokens.adapters.trl_ppo import train
from firstbreak.probes.tokens.task import TokenTask

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")]


def test_the_last_trl_with_ppo_is_named():
    task = TokenTask("x", lambda _prompt, _completion: 0.0, 4)
    for ask in (lambda: token_pieces("trl:PPO"), lambda: train(task, steps=1, seed=0)):
        with pytest.raises(InputError, match="has no PPO trainer") as told:
            ask()
        assert "trl==1.12.0" in str(told.value)


def test_an_unknown_trainer_is_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="trl:PPOO") as told:
        token_pieces("trl:PPOO")
    assert "trl:PPO" in str(told.value)
