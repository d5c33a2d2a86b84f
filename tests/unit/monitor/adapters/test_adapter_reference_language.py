"""What a reference trainer of language models loses or exchanges between sampler, scorer and loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from firstbreak.monitor import Monitor
from firstbreak.monitor.adapters.parts.trl.normalised import RESIDUAL, SIZE
from firstbreak.monitor.adapters.parts.trl.remembered import AGAIN, OFF
from firstbreak.monitor.adapters.parts.trl.setup import DATA, POLICY, REWARD, SAMPLE
from firstbreak.monitor.adapters.parts.trl.trained import ALTERED, OTHERS
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.trainers.language.async_grpo import AsyncGRPO, AsyncGRPOConfig
from firstbreak.trainers.language.grpo import GRPO
from firstbreak.trainers.language.grpo_config import GRPOConfig
from firstbreak.trainers.language.model import TinyLM
from firstbreak.trainers.language.tasks import Puzzles
from firstbreak.trainers.language.tool_agent import ToolAgent, ToolAgentConfig

torch.set_num_threads(1)
SMALL: dict[str, Any] = {"prompts_per_update": 4, "num_generations": 4, "max_new_tokens": 2, "eval_every": 0}
PUZZLES = Puzzles(kinds=("produce",), levels=(1,))
ZERO = (OTHERS, OFF, POLICY, SAMPLE, DATA, REWARD)


class Seen(Monitor):
    def __init__(self) -> None:
        super().__init__()
        self.given: list[dict[str, Any]] = []

    def log(self, metrics: Any, *args: Any, **kwargs: Any) -> Any:
        self.given.append(dict(metrics))
        return super().log(metrics, *args, **kwargs)


def model() -> TinyLM:
    torch.manual_seed(0)
    return TinyLM(width=16, layers=1, heads=2)


def length(problem: Any, text: str, ended: bool) -> float:
    """Pays something to an untaught model as well."""
    return len(set(text)) + 0.5 * ended


def guarded(
    config: GRPOConfig, fault: Callable[[Any], None] = lambda trainer: None, kind: Any = GRPO, updates: int = 6
) -> list[dict[str, Any]]:
    monitor = Seen()
    options = {} if kind is ToolAgent else {"puzzles": PUZZLES}
    trainer = kind(seed=0, config=config, model=model(), **options)
    if kind is not ToolAgent:
        trainer.rewards["format"] = length
    log = log_to(monitor, trainer)

    def logged(metrics: Any, step: int) -> Any:
        verdict = log(metrics, step)
        if step == 3:
            fault(trainer)
        return verdict

    trainer.learn(updates, logged)
    assert monitor.faults == []
    return monitor.given


HEALTHY = (
    {}, {"scale_rewards": "none"}, {"scale_rewards": "batch", "loss_type": "dr_grpo", "beta": 0.04},
    {"num_iterations": 2, "num_minibatches": 2, "micro_batches": 2, "loss_type": "gspo"}, {"dynamic_sampling": True},
    {"mask_truncated": True, "loss_type": "cispo", "temperature": 0.7, "top_p": 0.9},
)  # fmt: skip


@pytest.mark.parametrize("settings", HEALTHY)
def test_of_a_sound_training_nothing_is_lost(settings: dict[str, Any]) -> None:
    rows = guarded(GRPOConfig(**SMALL, **settings))
    for row in rows:
        assert {name: row[name] for name in ZERO if row.get(name)} == {}
        assert row[ALTERED] == 0.0
        if RESIDUAL in row:
            assert row[RESIDUAL] == pytest.approx(0.0, abs=1e-3)
            assert row[SIZE] == pytest.approx(1.0, rel=1e-3)
    assert any(row[AGAIN] > 0 for row in rows)
    assert any(RESIDUAL in row for row in rows)


@pytest.mark.parametrize("kind", [AsyncGRPO, ToolAgent])
def test_nor_of_an_asynchronous_one_or_one_with_tools(kind: Any) -> None:
    config = AsyncGRPOConfig(**SMALL) if kind is AsyncGRPO else ToolAgentConfig(**{**SMALL, "max_new_tokens": 8})
    for row in guarded(config, kind=kind):
        assert {name: row[name] for name in (*ZERO, ALTERED) if row.get(name)} == {}


def wrap(trainer: Any, name: str, change: Callable[..., Any]) -> None:
    method = getattr(trainer, name)
    setattr(trainer, name, lambda *args: change(method, *args))


def turned(trainer: Any) -> None:
    wrap(trainer, "loss", lambda loss, batch, *rest: loss({**batch, "advantage": -batch["advantage"]}, *rest))


def wavering(trainer: Any) -> None:
    trainer.rewards["format"] = lambda *given: -length(*given)


def unlike(trainer: Any) -> None:
    trainer.advantages = lambda reward, group: reward**2


def others(trainer: Any) -> None:
    kept: list[Any] = []

    def prepared(prepare: Any, batch: Any) -> Any:
        kept.append(batch)
        return prepare(kept[0])

    wrap(trainer, "prepare", prepared)


FAULTS: dict[str, tuple[Callable[[Any], None], str]] = {
    "advantages turned round in the loss": (turned, ALTERED),
    "a scorer that answers otherwise": (wavering, OFF),
    "advantages that are none": (unlike, RESIDUAL),
    "a clip set anew": (lambda t: setattr(t, "config", replace(t.config, epsilon=5.0)), POLICY),
    "sampling set anew": (lambda t: setattr(t, "config", replace(t.config, temperature=3.0)), SAMPLE),
    "a reward function that is another": (wavering, REWARD),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_breaks_in_mid_training_shows(name: str) -> None:
    fault, metric = FAULTS[name]
    # A fault lies inside what the adapter wrapped, as one in the trainer's own code would.
    rows = guarded(GRPOConfig(**SMALL), inside(fault) if fault is turned else fault, updates=8)
    assert all(row.get(metric, 0.0) < 0.01 for row in rows[:3])
    assert max(row.get(metric, 0.0) for row in rows[3:]) > 0.1


def inside(fault: Callable[[Any], None]) -> Callable[[Any], None]:
    """Advantages are written over in place, between what prepares them and the loss."""

    def planted(trainer: Any) -> None:
        prepare = trainer.prepare

        def prepared(batch: Any) -> Any:
            ready = prepare(batch)
            return {**ready, "advantage": -ready["advantage"]}

        trainer.prepare = prepared

    return planted


def test_an_old_batch_in_place_of_the_new_one_shows() -> None:
    rows = guarded(GRPOConfig(**SMALL), others, updates=8)
    assert all(row[OTHERS] == 0.0 for row in rows[:3])
    assert rows[-1][OTHERS] > 0.1
