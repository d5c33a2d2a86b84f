"""TorchRL pairs on the cheap rungs: right ones pass, planted bugs are named. Probes are right TorchRL environments."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torchrl.envs.utils import check_env_specs

from firstbreak.check import find_check, look_at
from firstbreak.errors import InputError, UnknownNameError
from firstbreak.probes.adapters.reaching import reach
from firstbreak.probes.adapters.torchrl import reach_builder
from firstbreak.probes.environments.factories import WORLDS
from firstbreak.probes.environments.torchrl_env import torchrl_env
from firstbreak.probes.ladder.trial import Trial
from firstbreak.probes.running.here import Here

from . import torchrl_pairs as pairs

torch.set_num_threads(1)


def looks(make: Any, *names: str) -> dict[str, Any]:
    trial = Trial(Here(reach_builder(make.__name__, make)))
    found = {name: look_at(find_check(name), trial) for name in names}
    assert [look.error for look in found.values() if look.error] == []
    assert trial.crashes == []
    return found


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", ["", "Continuous"])
def test_every_probe_is_a_right_torchrl_environment(world: str, kind: str) -> None:
    env = torchrl_env(f"firstbreak/{world}{kind}-v0")
    check_env_specs(env)
    env.close()


def test_an_unknown_probe_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError):
        torchrl_env("firstbreak/Discountin-v0")


def test_a_right_ppo_passes_the_rung_on_the_discount() -> None:
    found = looks(pairs.ppo, "discount-wrong")
    assert {name: (look.symptom, look.skip) for name, look in found.items()} == dict.fromkeys(found, (None, None))


@pytest.mark.full
def test_a_right_ppo_passes_the_ends_of_episodes_and_the_bandit() -> None:
    found = looks(pairs.ppo, "value-not-learned", "termination-not-cut", "time-limit-as-end", "best-action-not-found")
    assert {name: (look.symptom, look.skip) for name, look in found.items()} == dict.fromkeys(found, (None, None))


@pytest.mark.full
@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        (pairs.ppo_truncation_cut, "time-limit-as-end", "treated as termination"),
        (pairs.ppo_wrong_gamma, "discount-wrong", "discounted by 0.9 a step"),
    ],
)
def test_a_planted_bug_is_named(make: Any, name: str, words: str) -> None:
    symptom = looks(make, name)[name].symptom
    assert symptom is not None
    assert words in symptom.message


@pytest.mark.full
@pytest.mark.parametrize(
    ("make", "names"),
    [
        (pairs.dqn, ("value-not-learned", "discount-wrong", "best-action-not-found")),
        (pairs.sac, ("value-not-learned",)),
    ],
)
def test_replay_buffers_and_target_updates_pass_too(make: Any, names: tuple[str, ...]) -> None:
    found = looks(make, *names)
    assert {name: (look.symptom, look.skip) for name, look in found.items()} == dict.fromkeys(found, (None, None))


def test_a_builder_is_reached_by_its_prefix() -> None:
    reached = reach("torchrl:tests.unit.probes.torchrl_pairs:dqn")
    assert (reached.takes_gamma, reached.steps, reached.actions) == (True, 640, ("discrete",))


def test_what_raises_on_the_actions_that_it_declares_is_broken_and_no_refusal() -> None:
    def make(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Any:
        raise NameError("my_policy")

    make.actions = ("discrete",)  # type: ignore[attr-defined]
    trial = Trial(Here(reach_builder("make", make)))
    look_at(find_check("value-not-learned"), trial)
    assert [(o.kind, o.ended, o.message) for o in trial.crashes] == [("discrete", "raised", "NameError: my_policy")]
    assert [o.kind for o in trial.refusals] == ["continuous"]


def test_what_is_no_builder_is_refused() -> None:
    with pytest.raises(InputError, match="not a function"):
        reach("torchrl:tests.unit.probes.torchrl_pairs:__name__")
    with pytest.raises(InputError, match="no keyword"):
        reach("torchrl:tests.unit.probes.torchrl_pairs:network")


def test_a_loop_of_ones_own_is_what_is_tried() -> None:
    seen: list[int] = []

    def make(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Any:
        parts = pairs.ppo(make_env, total_steps=total_steps, seed=seed, gamma=gamma)
        parts.update = lambda batch: seen.append(len(batch))
        return parts

    reached = reach_builder("make", make)
    from firstbreak.probes.running.training import MakeEnv

    agent = reached.train(MakeEnv(WORLDS["BanditAction"], "discrete", None), total_steps=256, seed=0, gamma=0.5)
    assert sum(seen) == 256
    assert agent.gamma == 0.5
    assert int(agent.act([1.0], True)) in {0, 1, 2}
