"""What the control experiments are made of: settings by meaning, rewards, optimisers held still, resuming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.errors import InputError
from firstbreak.experiments import Subject, Trial
from firstbreak.experiments.catalogue.batch_x4 import larger
from firstbreak.experiments.catalogue.critic_only_fit import learnable
from firstbreak.experiments.catalogue.one_epoch_one_minibatch import single_update
from firstbreak.experiments.control.behaviour import answers, differing_frac
from firstbreak.experiments.control.fitting import _something_to_see, _told_apart
from firstbreak.experiments.control.knobs import change, knobs_of
from firstbreak.experiments.control.optimisers import held_still
from firstbreak.experiments.control.readings import falls_short, share_of_span
from firstbreak.experiments.control.task import Task, factory
from firstbreak.experiments.control.training import subjected
from firstbreak.experiments.control.watch import NeverStopsError, TooSlowError, Watch
from firstbreak.experiments.control.wrappers import Paid
from firstbreak.experiments.experiment import Pair

from .toy_trainers import Arms

TOYS = "tests.unit.experiments.control.toy_trainers"


def trial(trainer: str, env: str = f"{TOYS}:arms", seed: int = 0, **more: Any) -> Trial:
    return Trial(Subject(trainer, env, **more), "control", {}, seed, Path())


def test_one_update_a_batch_in_the_words_of_each_library() -> None:
    ppo = single_update(trial("firstbreak.trainers.ppo:train"))["config"]
    assert (ppo.update_epochs, ppo.num_minibatches) == (1, 1)
    assert single_update(trial("sb3:PPO", settings={"n_steps": 8, "n_envs": 4})) == {"n_epochs": 1, "batch_size": 32}
    assert single_update(trial(f"{TOYS}:overworked")) == {"epochs": 1, "num_minibatches": 1}
    assert single_update(trial(f"{TOYS}:frozen")) == {"epochs": 1}, "its batch_size is what it collects"
    with pytest.raises(InputError, match="no setting that is known as epochs"):
        single_update(trial(f"{TOYS}:good"))
    with pytest.raises(InputError, match="one update on each batch already"):
        single_update(trial(f"{TOYS}:frozen", settings={"epochs": 1}))


def test_a_batch_four_times_as_large_in_the_words_of_each_library() -> None:
    assert larger(trial("sb3:PPO"), 4) == ({"n_steps": 64, "batch_size": 256}, True)
    assert larger(trial("sb3:DQN"), 4) == ({"batch_size": 256}, False)
    config, fresh = larger(trial("firstbreak.trainers.ppo:train"), 4)
    assert (config["config"].num_steps, fresh) == (512, True)
    assert larger(trial(f"{TOYS}:starved"), 4) == ({"batch_size": 8}, True)


def test_the_users_own_names_and_values_come_first() -> None:
    subject = Subject(f"{TOYS}:good", settings={"learning_rate": 0.25}, given={"epochs_setting": "learning_rate"})
    assert knobs_of(subject).number("learning_rate") == 0.25
    assert change(subject, "epochs", lambda old: old * 2)[1] == {"learning_rate": 0.5}


@pytest.mark.parametrize("kind", ["constant", "random", "reversed"])
def test_what_the_trainer_is_paid(kind: str) -> None:
    own, env = Arms(), Paid(Arms(), kind, 2.0, seed=3)
    paid: list[float] = []
    for action in [0, 1, 2, 3] * 200:
        own.reset()
        env.reset()
        reward, found = own.step(action)[1], env.step(action)[1]
        paid.append(found)
        assert {"constant": found == 0.0, "reversed": found == -reward, "random": True}[kind]
    if kind == "random":
        assert abs(np.mean(paid)) < 0.3
        assert np.std(paid) == pytest.approx(2.0, rel=0.1)


def test_optimisers_are_held_still_and_their_rates_put_back() -> None:
    weight = torch.nn.Parameter(torch.ones(3))
    optimiser = torch.optim.AdamW([weight], lr=0.1, weight_decay=0.5)

    def step() -> None:
        optimiser.zero_grad()
        (weight**2).sum().backward()
        optimiser.step()

    with held_still() as seen:
        step()
        step()
    assert seen.seen == 2
    assert weight.tolist() == [1.0, 1.0, 1.0]
    assert optimiser.param_groups[0]["lr"] == 0.1
    step()
    assert weight.tolist() != [1.0, 1.0, 1.0]
    assert seen.seen == 2, "the hooks are gone"


def test_seeds_give_different_fingerprints_and_the_same_seed_the_same() -> None:
    prints: list[str] = []
    for seed in (0, 1, 0):
        one = trial(f"{TOYS}:good", seed=seed)
        subjected(one).train()
        prints.append(one.fingerprint)
    assert prints[0] == prints[2] != prints[1]
    assert one.env_steps == 320


def test_the_untrained_agent_leaves_no_trace_in_the_count() -> None:
    one = trial(f"{TOYS}:good")
    subject = subjected(one)
    start = subject.untrained()
    assert start is not None
    assert not start.weights.any()
    assert (one.env_steps, one.fingerprint, one.notes) == (0, "", [])


def test_both_arms_are_scored_on_the_same_episodes() -> None:
    def scored(seed: int) -> float:
        return Task(trial("", f"{TOYS}:noisy_arms", seed)).score(lambda obs: 3).mean

    assert scored(1) == scored(1) != scored(2)


def test_a_training_that_does_not_stop_is_ended() -> None:
    watch = Watch(trial(""), 10)
    with pytest.raises(NeverStopsError, match="10 were asked for"):
        play(watch)
    slow = Trial(Subject(), "control", {}, 0, Path(), seconds=1e-9)
    watch = Watch(slow, 10_000)
    with pytest.raises(TooSlowError):
        play(watch)


def play(watch: Watch) -> None:
    for _ in range(100_000):
        watch.note(0, 0.0)


@pytest.mark.parametrize("address", ["NoSuchEnv-v0", f"{TOYS}:TOYS", f"{TOYS}:nothing"])
def test_a_task_that_is_not_there_is_bad_input(address: str) -> None:
    with pytest.raises((InputError, KeyError)):
        factory(address)


class Exploring:
    """Acts by its Q, at random now and then; how often is a matter of a schedule."""

    def __init__(self, random_frac: float, shift: float = 0.0) -> None:
        self.random_frac, self.shift = random_frac, shift

    def act(self, obs: Any, deterministic: bool) -> int:
        del obs
        return int(np.random.random() < self.random_frac) if not deterministic else 0

    def q(self, obs: Any, action: Any) -> float:
        return float(np.sum(obs)) + float(action) + self.shift


class Drawing:
    """Acts by draws alone."""

    def __init__(self, random_frac: float) -> None:
        self.random_frac = random_frac

    def act(self, obs: Any, deterministic: bool) -> int:
        del obs
        return 0 if deterministic else int(np.random.random() < self.random_frac)


def test_a_schedule_of_exploration_does_not_count_as_a_change_of_the_agent() -> None:
    seen = [np.full(2, i, np.float32) for i in range(8)]
    before = answers(Exploring(1.0), seen)
    assert differing_frac(before, answers(Exploring(0.05), seen)) == 0.0
    assert differing_frac(before, answers(Exploring(1.0, shift=0.01), seen)) == 1.0
    drawn = answers(Drawing(0.5), seen)
    assert differing_frac(drawn, answers(Drawing(0.5), seen)) == 0.0, "the same draws for the same seed"
    assert differing_frac(drawn, answers(Drawing(0.0), seen)) > 0.0, "where there is no Q, draws are what shows"


def test_a_critic_is_fitted_to_what_can_be_read_off_its_inputs() -> None:
    rows = {"obs": torch.stack([torch.zeros(64), torch.linspace(-1, 1, 64)], 1)}
    noise = torch.randn(64, generator=torch.Generator().manual_seed(0))
    assert torch.equal(_told_apart(rows, noise), rows["obs"][:, 1])
    assert torch.equal(_told_apart({"obs": torch.zeros(64, 2)}, noise), noise), "nothing is seen: nothing stands in"


def test_a_critic_of_a_task_that_shows_nothing_is_shown_drawn_observations() -> None:
    drawn = _something_to_see(torch.ones(64, 2))
    assert float(drawn.std(0).min()) > 0.5
    seen = torch.linspace(-1, 1, 64)[:, None]
    assert _something_to_see(seen) is seen
    image = torch.zeros(64, 2, dtype=torch.uint8)
    assert _something_to_see(image) is image


def test_a_control_shows_that_its_targets_cannot_be_told_apart() -> None:
    nothing = [{"explained_frac": 0.01, "to_learn_frac": 0.3}] * 3
    assert "not known whether a critic could fit them" in learnable(nothing, Subject())
    assert learnable([{"explained_frac": 0.9, "to_learn_frac": 1.5}] * 3, Subject()) == ""


def test_a_control_that_may_fall_short_asks_for_seeds_and_one_that_does_not_is_left_alone() -> None:
    """Three of five seeds learn, two do not: the mean is below what was expected, and its interval holds it."""
    mixed = [{"score": value} for value in (1.0, 1.0, 1.0, 0.3, 0.2)]
    expecting = Subject(given={"expect": 1})
    assert "cannot tell whether that is less; give more (--seeds 20)" in falls_short(mixed, expecting)
    assert falls_short([{"score": value} for value in (0.3, 0.2, 0.25, 0.3, 0.2)], expecting) == ""
    assert falls_short([{"score": 1.1}] * 5, expecting).endswith("1 were expected.")


@pytest.mark.parametrize(
    ("given", "spread", "margin"),
    [
        ({"expect": 1.0}, 8.0, 0.25),  # noise of 8 a step, 0.5 to gain: half of it at most
        ({}, 8.0, 4.0),  # nobody said what there is to gain
        ({"expect": 1.0}, 0.4, 0.2),  # a medium effect, below the cap
        ({"expect": 1.0}, 0.1, 0.125),  # a quarter of the span
    ],
)
def test_no_more_is_asked_for_than_there_is_to_gain(given: dict[str, float], spread: float, margin: float) -> None:
    pairs = [Pair(0, {"score": 0.6, "random": 0.5, "random_sd": spread}, {"score": 0.7})]
    assert share_of_span(pairs, Subject("t", "e", given=given)) == pytest.approx(margin)
