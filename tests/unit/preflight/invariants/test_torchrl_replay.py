"""Pairs of TorchRL with a replay buffer: right ones have no fault, one bug in each of the others is the first break."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError
from firstbreak.finding import Severity
from firstbreak.inspection import Inspection
from firstbreak.preflight.invariants.adapters.torchrl import Made
from firstbreak.preflight.invariants.adapters.torchrl_networks import networks_of
from firstbreak.preflight.invariants.adapters.torchrl_off_policy import algorithm_of
from firstbreak.preflight.invariants.api import inspect_trainer
from tests.unit.probes import torchrl_pairs as pairs

from . import torchrl_replay_pairs as replay

torch.set_num_threads(1)
COMMON = {
    "stored-reward-differs",
    "truncation-stored-as-termination",
    "next-observation-after-reset",
    "replay-keeps-oldest",
    "replay-sampling-not-uniform",
    "parameter-not-in-optimiser",
    "td-target-truncated-cut",
    "td-target-terminated-bootstraps",
    "td-target-discount-wrong",
    "td-target-ignores-target-network",
    "td-loss-scores-other-action",
    "target-network-never-moves",
    "target-network-moves-wrong-fraction",
}


def inspect(name: str) -> Inspection:
    where = pairs if hasattr(pairs, name) else replay
    return inspect_trainer(f"torchrl:{where.__name__}:{name}", isolate=False)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("dqn", {"one-action-only"}),
        ("double_one_hot", {"batch-order-changes-update"}),
        ("sac", {"td-entropy-term-wrong", "td-target-twin-minimum-missing", "temperature-moves-wrong-way"}),
        ("td3", {"td-target-twin-minimum-missing", "actor-lowers-critic-value"}),
        ("ddpg", {"actor-ignores-critic"}),
    ],
)
def test_a_right_pair_has_no_fault_and_its_targets_are_looked_at(name: str, more: set[str]) -> None:
    seen = inspect(name)
    assert [f.message for f in seen.findings if f.severity is not Severity.INFO] == []
    assert seen.errors == ()
    assert seen.verdict is Verdict.HEALTHY
    assert COMMON | more <= {*seen.clear}


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("dqn_target_still", "target-network-never-moves"),
        ("dqn_done", "td-target-truncated-cut"),
        ("dqn_reward_late", "stored-reward-differs"),
        ("dqn_online_target", "td-target-ignores-target-network"),
        ("dqn_stale_policy", "parameter-not-in-optimiser"),
        ("sac_ends_stored", "truncation-stored-as-termination"),
        ("sac_other_gamma", "td-target-discount-wrong"),
        ("sac_alpha_left_out", "parameter-not-in-optimiser"),
        ("sac_critic_left_out", "parameter-not-in-optimiser"),
        ("sac_action_detached", "actor-ignores-critic"),
        ("td3_larger_twin", "td-target-twin-minimum-missing"),
        ("td3_target_still", "target-network-never-moves"),
        ("ddpg_sign", "actor-lowers-critic-value"),
        ("ddpg_done", "td-target-truncated-cut"),
    ],
)
@pytest.mark.filterwarnings("ignore:No target network updater:UserWarning")
def test_one_mistake_in_a_pair_is_the_first_break(name: str, fault: str) -> None:
    seen = inspect(name)
    assert seen.errors == ()
    assert seen.first_break is not None
    assert seen.first_break.name == fault, [f.name for f in seen.findings]


@pytest.mark.parametrize(("make", "kind"), [(pairs.dqn, "discrete"), (pairs.sac, "continuous")])
def test_a_view_answers_as_the_loss_does_and_shares_its_memory(make: Any, kind: str) -> None:
    loss = Made(make, kind, 0).parts.loss
    found = networks_of(loss, "observation", ddpg=False)
    assert found is not None
    name = "value_network" if kind == "discrete" else "qvalue_network"
    obs, action = torch.randn(5, 6), torch.rand(5, 2)
    for place, view in enumerate(found.online):
        params = getattr(loss, f"{name}_params")
        with (params if kind == "discrete" else params[place]).data.to_module(getattr(loss, name)):
            rows = getattr(loss, name)(replay.TensorDict({"observation": obs, "action": action}, batch_size=[5]))
        key = "action_value" if kind == "discrete" else "state_action_value"
        assert torch.equal(view(obs, *([] if kind == "discrete" else [action])), rows[key])
        with torch.no_grad():
            next(view.parameters()).fill_(3.0)
    firsts = [w.detach() for w in loss.parameters() if w.shape[-2:] == next(found.online[0].parameters()).shape]
    assert any(bool((w == 3.0).all()) for w in firsts)


def test_an_unknown_loss_is_looked_at_as_far_as_it_goes() -> None:
    class Own(torch.nn.Module):
        pass

    assert algorithm_of(Own()) == "Own"
    seen = inspect("own_loss")
    assert {"parameter-not-in-optimiser", "stored-reward-differs", "truncation-stored-as-termination"} <= {*seen.clear}
    assert seen.verdict is Verdict.HEALTHY


def test_a_loop_of_ones_own_is_watched_in_its_first_rounds() -> None:
    seen = inspect("own_loop_that_never_steps")
    assert seen.first_break is not None
    assert seen.first_break.name == "no-gradient-step-taken"


def test_what_is_no_parts_is_refused() -> None:
    with pytest.raises(InputError, match="returned tuple, not Parts"):
        inspect("no_parts")
