"""What is made of every experiment that needs a trainer: once where its hypothesis is true, and once where it is not.

The truth stands by construction. Four cases were planted anew after first tries; the page says which and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from firstbreak.experiments.subject import Subject

TRAINERS, WORLDS = "benchmarks.settle.walk_trainers", "benchmarks.settle.walk_worlds"
QUICK: dict[str, Any] = {"n_steps": 64, "batch_size": 32, "n_epochs": 4, "learning_rate": 3e-3}
STEPS = 1536
PRIVATE = {"score": "private/pass"}


@dataclass(frozen=True)
class Case:
    """An experiment on a real trainer, with what must come of it."""

    experiment: str
    confirms: bool
    why: str
    trainer: str = ""
    world: str = ""
    """A task of `walk_worlds`, or a Gymnasium id."""
    steps: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    margin: float | None = None
    seeds: int | None = None
    """Pairs of seeds from the start, where a handful cannot tell whether the control fails."""

    @property
    def id(self) -> str:
        """Its name in the table."""
        return f"{self.experiment}: {'true' if self.confirms else 'false'}"

    @property
    def subject(self) -> Subject:
        """What is experimented on."""
        own = self.trainer and ":" not in self.trainer
        env = self.world if "-v" in self.world or not self.world else f"{WORLDS}:{self.world}"
        trainer = f"{TRAINERS}:{self.trainer}" if own else self.trainer
        return Subject(trainer, env, self.steps, dict(self.settings), dict(self.given))


def sb3(experiment: str, confirms: bool, why: str, world: str = "arms", trainer: str = "sb3:PPO", **more: Any) -> Case:
    """A case on SB3's PPO, or on one of `walk_trainers` that derives from it."""
    changed: dict[str, Any] = more.pop("settings", {})
    settings = {**QUICK, **changed} if trainer.startswith("sb3") else changed
    steps = more.pop("steps", STEPS)
    return Case(
        experiment,
        confirms,
        why,
        trainer,
        world,
        steps,
        settings,
        more.pop("given", {}),
        more.pop("margin", None),
        more.pop("seeds", None),
    )


def lm(experiment: str, confirms: bool, why: str, trainer: str, updates: int = 36, **given: Any) -> Case:
    """A case on small GRPO."""
    return Case(experiment, confirms, why, trainer, steps=updates, given={**PRIVATE, **given})


EXPERT = {"expert": f"{WORLDS}:last_arm"}
DEAD = {"learning_rate": 0.0}
CASES: tuple[Case, ...] = (
    sb3("batch-x4", True, "four noisy rewards an update, and large steps: it settles on an arm by luck", "noisy_arms",
        trainer="starved", steps=240, margin=0.25, seeds=16,
        given={"expect": 0.95, "episodes": 100}),
    sb3("batch-x4", False, "the learning rate is 0", settings=DEAD),
    sb3("constant-reward", True, "something that asks no reward pushes to the action that pays", trainer="favouring"),
    sb3("constant-reward", False, "PPO learns from its reward alone"),
    sb3("critic-only-fit", True, "the value loss has weight 0", "CartPole-v1", settings={"vf_coef": 0.0}, steps=20_000),
    sb3("critic-only-fit", False, "PPO as it should be", "CartPole-v1", steps=20_000),
    sb3("deterministic-evaluation", True, "a large bonus keeps draws near chance", trainer="undecided"),
    sb3("deterministic-evaluation", False, "the policy that comes out is all but certain"),
    sb3("fixed-normaliser", True, "the two observations are a fifth apart, at 300", "far_sides"),
    sb3("fixed-normaliser", False, "the learning rate is 0; observations are -1 and 1", "sides", settings=DEAD),
    sb3("one-epoch-one-minibatch", True, "a hundred epochs on each rollout, without clipping", "CartPole-v1",
        settings={"n_epochs": 100, "clip_range": 1e9}, steps=20_000),
    sb3("one-epoch-one-minibatch", False, "four epochs, as usual", "CartPole-v1", steps=20_000),
    sb3("one-setting", True, "the rate is a thousandth of what learns", settings={"learning_rate": 3e-6},
        given={"setting": "learning_rate", "value": "x1000"}),
    sb3("one-setting", False, "the advantages are reversed; the bonus has no part in it", trainer="flipped_with",
        settings={"entropy_coef": 0.01}, given={"setting": "entropy_coef", "value": 0.0}),
    Case("oracle-against-random", True, "every action is paid alike", world="deaf_arms", given=EXPERT),
    Case("oracle-against-random", False, "only the last action is paid", world="arms", given=EXPERT),
    sb3("overfit-one-batch", True, "the gradient is clipped to nothing", "CartPole-v1", steps=20_000,
        settings={"max_grad_norm": 1e-9}),
    sb3("overfit-one-batch", False, "PPO as it should be", "CartPole-v1", steps=20_000),
    sb3("random-reward", True, "something that asks no reward pushes to the action that pays", trainer="favouring"),
    sb3("random-reward", False, "PPO learns from its reward alone"),
    sb3("resume", True, "the weights are not loaded", trainer="forgetting"),
    sb3("resume", False, "weights are loaded", trainer="halved"),
    sb3("resume", False, "SB3's own saving and loading"),
    sb3("reversed-reward", True, "every advantage has the other sign", trainer="flipped"),
    sb3("reversed-reward", False, "PPO goes up its reward", given={"expect": 2.0}),
    sb3("untrained-start", True, "the learning rate is 0", settings=DEAD),
    sb3("untrained-start", False, "PPO learns"),
    sb3("zero-learning-rate", True, "something other than the optimiser pushes the policy", trainer="favouring"),
    sb3("zero-learning-rate", False, "only the optimiser moves it"),
    lm("component-ablation", True, "the letter a is paid twice what the right letter is", "with_style",
       component="style"),
    lm("component-ablation", False, "ending is paid a little, as the task wants it", "with_manners", component="style"),
    lm("length-penalty", True, "fillers are paid, and the task needs none", "padded", penalty=0.1),
    lm("length-penalty", False, "fillers are the task", "needing_room", penalty=0.3),
    lm("sync-vs-async", True, "responses are up to sixteen versions old, and the clip range lies around these",
       "behind", updates=30),
    lm("sync-vs-async", False, "responses are one version old, and updates many", "hardly_behind"),
    Case("train-on-test", True, "the labels of the training set are drawn anew each time", "mislabelled", steps=40),
    Case("train-on-test", False, "the learning rate is 0, whatever the prompts", "stuck", steps=20),
)  # fmt: skip
