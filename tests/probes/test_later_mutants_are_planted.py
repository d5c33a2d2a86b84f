"""Every mutant of the later list exists, runs, and does not do what the original does; so do the harmless."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.target import load_target
from firstbreak.trainers.mmrkhs import MMRKHS
from firstbreak.trainers.ppo import PPO
from firstbreak.trainers.sac import SAC

from . import later_harmless, later_on_policy, later_replay, later_sb3
from .mutation import with_defaults
from .planting import trainer_of
from .test_mutants_are_planted import CONFIGS, ORIGINAL, REFERENCE, SMALL, Tiny, healthy, trained
from .test_unseen_mutants_are_planted import BOX, attribute

LISTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("later_mutants.toml").read_text("utf-8"))
DISCRETE_ONLY = {"ppo-softmax-before-categorical", "mmrkhs-kernel-of-ones"}
"""Bugs that continuous actions do not reach; each is run on discrete ones below."""


def made(entry: dict[str, Any]) -> Any:
    return getattr(import_module(f"tests.probes.{entry['module']}"), attribute(entry))


@pytest.mark.parametrize("entry", [*LISTS["mutant"], *LISTS["harmless"]], ids=lambda m: m["id"])
def test_is_planted(entry: dict[str, Any]) -> None:
    assert isinstance(made(entry), type)


def test_ids_are_new() -> None:
    ids = [e["id"] for rows in LISTS.values() for e in rows]
    assert len(ids) == len(set(ids)) == 60
    for name in ("mutants.toml", "unseen_mutants.toml"):
        earlier = tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))
        assert not set(ids) & {e["id"] for rows in earlier.values() for e in rows}


RUN = [m for m in LISTS["mutant"] if m["subject"] in REFERENCE and m["id"] not in DISCRETE_ONLY]


@pytest.mark.parametrize("mutant", RUN, ids=lambda m: m["id"])
def test_differs_from_the_original(mutant: dict[str, Any]) -> None:
    subject = mutant["subject"]
    train = load_target(f"tests.probes.{mutant['module']}:train_{attribute(mutant)}")
    assert repr(trained(train, subject)) != healthy(subject)


@pytest.mark.parametrize("name", sorted(DISCRETE_ONLY))
def test_differs_with_discrete_actions(name: str) -> None:
    subject = name.split("-", maxsplit=1)[0]
    told: list[str] = []
    for cls in (ORIGINAL[subject], getattr(later_on_policy, name.replace("-", "_"))):
        agent = trainer_of(cls, None)(lambda: Tiny(False), total_steps=200, seed=3, config=CONFIGS[subject])
        rows = torch.linspace(-1, 1, 15).reshape(5, 3)
        told.append(repr(agent.actor.distribution(rows).logits.tolist()))
    assert told[0] != told[1]


def test_softmax_cannot_be_certain_and_ones_have_no_distance() -> None:
    agent = later_on_policy.ppo_softmax_before_categorical(lambda: Tiny(False), config=CONFIGS["ppo"])
    with torch.no_grad():
        for weight in agent.actor.parameters():
            weight.mul_(1e3)
    chances = agent.actor.distribution(torch.linspace(-1, 1, 15).reshape(5, 3)).probs
    assert chances.max() < np.e / (np.e + 2) + 1e-6
    for cls, far in ((MMRKHS, True), (later_on_policy.mmrkhs_kernel_of_ones, False)):
        one = cls(lambda: Tiny(False), config=CONFIGS["mmrkhs"])
        old, new = (
            torch.distributions.Categorical(probs=torch.tensor([p])) for p in ([0.8, 0.1, 0.1], [0.1, 0.1, 0.8])
        )
        assert bool(one.mmd(old, new).abs().max() > 0.1) == far


def test_unclipped_rows_and_capped_answers() -> None:
    """A row with a negative advantage that has gone far below its old probability has a gradient in the mutant only."""
    moved: list[bool] = []
    for cls in (PPO, later_on_policy.ppo_clip_without_lower_bound):
        torch.manual_seed(0)
        agent = cls(lambda: Tiny(True), config=replace(CONFIGS["ppo"], normalises_advantage=False))
        rows = agent.advantages(agent.collect()).reshape(-1)
        rows["log_prob"], rows["advantage"] = rows["log_prob"] + 3.0, -torch.ones(len(rows))
        agent.loss(rows)["policy"].backward()
        moved.append(any(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in agent.actor.parameters()))
    assert moved == [False, True]
    for cls, capped in ((SAC, False), (later_replay.sac_answers_clipped_to_one, True)):
        agent = cls(lambda: Tiny(True), config=CONFIGS["sac"])
        drawn = [agent.act(np.zeros(3, np.float32)) for _ in range(50)]
        assert (float(np.abs(drawn).max()) <= 1.0) == capped


@pytest.mark.parametrize("entry", [e for e in LISTS["harmless"] if e["subject"] in REFERENCE], ids=lambda m: m["id"])
@pytest.mark.parametrize("continuous", [False, True])
def test_harmless_runs(entry: dict[str, Any], continuous: bool) -> None:
    torch.set_num_threads(1)
    subject = entry["subject"]
    kinds = {"dqn": False, "sac": True}
    agent = trainer_of(made(entry), type(CONFIGS[subject]))(
        lambda: Tiny(kinds.get(subject, continuous)), total_steps=200, seed=3, config=CONFIGS[subject]
    )
    assert agent.env_steps >= 200
    assert agent.gradient_steps > 0
    weights = [w for w in vars(agent).values() if isinstance(w, torch.nn.Module) for w in w.parameters()]
    assert all(bool(w.isfinite().all()) for w in weights)


def test_halves_add_up_to_the_whole() -> None:
    """Accumulated gradients make the same step as the whole minibatch, and a shared trunk is counted once."""
    after: list[Any] = []
    for cls in (PPO, later_harmless.ppo_accumulates_gradients):
        agent = cls(lambda: Tiny(True), seed=1, config=replace(CONFIGS["ppo"], learning_rate=1e-3))
        agent.step(agent.advantages(agent.collect()).reshape(-1))
        after.append(torch.cat([p.detach().flatten() for p in agent.actor.parameters()]))
    assert torch.allclose(after[0], after[1], atol=1e-5)
    shared = later_harmless.ppo_shared_trunk(lambda: Tiny(True), config=CONFIGS["ppo"])
    assert len(shared.optimiser.param_groups[0]["params"]) == len(SMALL) * 2 + 2 + 2 + 1


def original(mutant: dict[str, Any]) -> Any:
    """What the mutant would be without its bug: TD3 has noise, and one mutant has three-step returns."""
    import stable_baselines3

    if mutant["subject"] == "sb3_td3":
        return later_sb3.sb3_td3_healthy
    cls = getattr(stable_baselines3, mutant["subject"].removeprefix("sb3_").upper())
    return with_defaults(cls, "DQN", n_steps=3) if "three-steps" in mutant["id"] else cls


def learnt(cls: Any, subject: str) -> Any:
    """The weights after a short run of an SB3 class."""
    small: dict[str, Any] = {"device": "cpu", "seed": 3}
    replay = subject in ("sb3_dqn", "sb3_sac", "sb3_td3")
    small |= {"learning_starts": 20, "buffer_size": 200} if replay else {"n_steps": 40}
    small |= {"batch_size": 20, "n_epochs": 2} if subject == "sb3_ppo" else {}
    torch.set_num_threads(1)
    model = cls("MlpPolicy", Tiny(subject in {*BOX, "sb3_td3"}), **small)
    model.learn(160)
    weights = torch.cat([w.detach().flatten() for w in model.policy.parameters()])
    assert bool(weights.isfinite().all())
    return np.asarray(weights).round(7).tolist()


SB3 = [m for m in LISTS["mutant"] if m["subject"].startswith("sb3")]


@pytest.mark.parametrize("mutant", SB3, ids=lambda m: m["id"])
def test_sb3_differs_from_the_original(mutant: dict[str, Any]) -> None:
    assert learnt(made(mutant), mutant["subject"]) != learnt(original(mutant), mutant["subject"])


def test_td3_repeats_itself() -> None:
    assert learnt(later_sb3.sb3_td3_healthy, "sb3_td3") == learnt(later_sb3.sb3_td3_healthy, "sb3_td3")


@pytest.mark.parametrize(
    "entry", [e for e in LISTS["harmless"] if e["subject"].startswith("sb3")], ids=lambda e: e["id"]
)
def test_sb3_harmless_learns_something(entry: dict[str, Any]) -> None:
    assert learnt(made(entry), entry["subject"])
