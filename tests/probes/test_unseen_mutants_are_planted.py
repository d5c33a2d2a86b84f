"""Every unseen mutant exists, runs on a tiny environment and does not do what the original does; so do the harmless."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.target import load_target

from .planting import trainer_of
from .test_mutants_are_planted import CONFIGS, ORIGINAL, REFERENCE, Tiny, healthy, trained

LISTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("unseen_mutants.toml").read_text("utf-8"))
BY_ROUNDING = {"mmrkhs-log-ratio-not-clipped"}
"""Bugs that a run of so few steps does not reach: the ratio stays within its bound."""


def attribute(entry: dict[str, Any]) -> str:
    return entry["id"].replace("-", "_")


@pytest.mark.parametrize("mutant", LISTS["mutant"], ids=lambda m: m["id"])
def test_is_planted(mutant: dict[str, Any]) -> None:
    module = import_module(f"tests.probes.{mutant['module']}")
    assert isinstance(getattr(module, attribute(mutant)), type)


@pytest.mark.parametrize("entry", LISTS["harmless"], ids=lambda m: m["id"])
def test_harmless_is_there(entry: dict[str, Any]) -> None:
    assert isinstance(getattr(import_module("tests.probes.unseen_harmless"), attribute(entry)), type)


RUN = [m for m in LISTS["mutant"] if m["subject"] in REFERENCE and m["id"] not in BY_ROUNDING]


@pytest.mark.parametrize("mutant", RUN, ids=lambda m: m["id"])
def test_differs_from_the_original(mutant: dict[str, Any]) -> None:
    subject = mutant["subject"]
    train = load_target(f"tests.probes.{mutant['module']}:train_{attribute(mutant)}")
    assert repr(trained(train, subject)) != healthy(subject)


@pytest.mark.parametrize("entry", [e for e in LISTS["harmless"] if e["subject"] in REFERENCE], ids=lambda m: m["id"])
def test_harmless_runs(entry: dict[str, Any]) -> None:
    """With the small settings of the mutants, where settings are not what is odd about it."""
    torch.set_num_threads(1)
    cls = getattr(import_module("tests.probes.unseen_harmless"), attribute(entry))
    subject = entry["subject"]
    made = trainer_of(cls, type(CONFIGS[subject]))(
        lambda: Tiny(subject != "dqn"), total_steps=200, seed=3, config=CONFIGS[subject]
    )
    assert made.env_steps >= 200
    assert made.gradient_steps > 0
    weights = [w for w in vars(made).values() if isinstance(w, torch.nn.Module) for w in w.parameters()]
    assert all(bool(w.isfinite().all()) for w in weights)


def test_unclipped_log_ratio() -> None:
    """A row far outside the bound has a gradient in the mutant only."""
    moved: list[bool] = []
    for cls in (
        ORIGINAL["mmrkhs"],
        import_module("tests.probes.unseen_on_policy").mmrkhs_log_ratio_not_clipped,
    ):
        torch.manual_seed(0)
        made = cls(lambda: Tiny(True), seed=0, config=CONFIGS["mmrkhs"])
        rows = made.prepare(made.advantages(made.collect()))
        flat = rows.flatten(0, 1)
        flat["log_prob"] = flat["log_prob"] - 3.0
        flat["advantage"] = flat["advantage"].abs() + 1.0
        made.loss(flat)["policy"].backward()
        moved.append(any(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in made.actor.parameters()))
    assert moved == [False, True]


BOX = {"sb3_sac", "sb3_ppo", "sb3_a2c"}


def learnt(cls: Any, subject: str) -> str:
    """The weights after a short run of an SB3 class, as text."""
    small: dict[str, Any] = {"device": "cpu", "seed": 3}
    small |= {"learning_starts": 20, "buffer_size": 200} if subject in ("sb3_dqn", "sb3_sac") else {"n_steps": 40}
    small |= {"batch_size": 20, "n_epochs": 2} if subject == "sb3_ppo" else {}
    torch.set_num_threads(1)
    model = cls("MlpPolicy", Tiny(subject in BOX), **small)
    model.learn(160)
    weights = torch.cat([w.detach().flatten() for w in model.policy.parameters()])
    assert bool(weights.isfinite().all())
    return repr(np.asarray(weights).round(7).tolist())


def original(subject: str) -> Any:
    import stable_baselines3

    return getattr(stable_baselines3, subject.removeprefix("sb3_").upper())


@pytest.mark.parametrize(
    "mutant", [m for m in LISTS["mutant"] if m["subject"].startswith("sb3")], ids=lambda m: m["id"]
)
def test_sb3_differs_from_the_original(mutant: dict[str, Any]) -> None:
    subject = mutant["subject"]
    cls = getattr(import_module("tests.probes.unseen_sb3"), attribute(mutant))
    assert learnt(cls, subject) != learnt(original(subject), subject)


@pytest.mark.parametrize(
    "entry", [e for e in LISTS["harmless"] if e["subject"].startswith("sb3")], ids=lambda e: e["id"]
)
def test_sb3_harmless_learns_something(entry: dict[str, Any]) -> None:
    cls = getattr(import_module("tests.probes.unseen_harmless"), attribute(entry))
    assert learnt(cls, entry["subject"])
