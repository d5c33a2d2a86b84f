"""Trainers that were once called broken although they are right; what was wrong each time is said beside them."""

from __future__ import annotations

import pytest
import torch

from firstbreak.check import Symptom, find_check
from firstbreak.preflight.invariants.api import inspect_trainer
from firstbreak.preflight.invariants.bench import Bench
from firstbreak.preflight.invariants.gae import raw_of
from tests.probes import later_harmless, unseen_replay, unseen_sb3
from tests.probes import unseen_harmless as odd

from .case import changed
from .small_trainers import SmallSAC

ONCE_BLAMED = {
    "ppo_normalised_over_rollout": "standardised advantages were compared with raw ones",
    "ppo_tanh_executed": "what is sent was held to be the stored action, clipped",
    "dqn_target_follows_softly": "a tau that nobody had named was taken for 1",
    "sac_fixed_temperature": "the entropy term of a fixed temperature was taken for a wrong target",
    "sac_actor_every_second_step": "two steps on fresh draws were taken for one step made twice",
    "sb3_ppo_value_clipped": "target_kl stopped the update at a made-up ratio",
    "sb3_sac_fixed_temperature": "as of the reference trainer",
    "sb3_sac_state_dependent_noise": "noise that is kept until it is reset was taken for a policy without spread",
    "sb3_ppo_state_dependent_noise": "it takes no discrete actions, and then nothing was looked at",
}


BLAMED_LATER = {
    "ppo_kl_penalty": "a clip was asked for where a penalty holds steps back",
    "dqn_adamw_and_value_clip": "a norm that is only measured was taken for a limit mistyped",
    "sac_target_entropy_falls": "the target entropy was read before the update had set it",
    "sb3_dqn_double": "a derived class of double DQN was held to the largest target value",
}


@pytest.mark.parametrize("name", BLAMED_LATER)
def test_what_a_second_list_showed_is_left_alone(name: str) -> None:
    seen = inspect_trainer(getattr(later_harmless, name))
    assert [f.name for f in seen.findings if f.severity.rank] == []
    assert seen.errors == ()


@pytest.mark.parametrize("name", ONCE_BLAMED)
def test_an_odd_trainer_is_looked_at_and_left_alone(name: str) -> None:
    seen = inspect_trainer(getattr(odd, name))
    assert [f.name for f in seen.findings if f.severity.rank] == []
    assert seen.errors == ()
    assert not seen.notes or "could not be looked at" not in " ".join(seen.notes)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sac_entropy_added_to_reward_twice", "td-entropy-term-wrong"),
        ("dqn_target_copied_into_online", "target-network-never-moves"),
        ("sac_target_entropy_of_batch", "target-entropy-unreachable"),
    ],
)
def test_near_to_it_a_bug_is_found(name: str, expected: str) -> None:
    seen = inspect_trainer(getattr(unseen_replay, name))
    assert expected in [f.name for f in seen.findings if f.severity.rank]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sb3_ppo_policy_layers_frozen", "policy-layers-frozen"),
        ("sb3_dqn_learning_never_starts", "no-update-before-end"),
        ("sb3_sac_actor_takes_larger_twin", "actor-climbs-larger-twin"),
    ],
)
def test_a_bug_of_the_loop_of_sb3_is_found(name: str, expected: str) -> None:
    seen = inspect_trainer(getattr(unseen_sb3, name))
    assert [f.name for f in seen.findings if f.severity.rank] == [expected]


def test_a_summed_loss_warns_where_clipping_then_always_binds() -> None:
    seen = inspect_trainer(unseen_replay.dqn_loss_summed)
    assert [f.name for f in seen.findings if f.severity.rank] == ["loss-summed-over-batch"]


@pytest.mark.parametrize(("target", "fires"), [(-64.0, True), (-12.0, False)])
def test_a_target_entropy_below_what_float32_holds(target: float, fires: bool) -> None:
    pieces = changed(lambda: SmallSAC().pieces(), settings={"target_entropy": target})()
    answer = find_check("target-entropy-unreachable").look(Bench(pieces))
    assert isinstance(answer, Symptom) == fires


def test_raw_advantages_are_left_as_they_are() -> None:
    value, raw = torch.randn(8, 3).double(), torch.randn(8, 3).double() * 3 + 1
    assert torch.equal(raw_of(raw, raw + value, value), raw)
    standard = (raw - raw.mean()) / raw.std()
    assert torch.allclose(raw_of(standard, raw + value, value), raw)
    other = torch.randn(8, 3).double()
    other = (other - other.mean()) / other.std()
    assert torch.equal(raw_of(other, raw + value, value), other), "of another estimate nothing is undone"
