"""What worlds pay: the closed forms against episodes that are played out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from firstbreak.probes.environments.factories import WORLDS, make_env
from firstbreak.probes.environments.returns import best_return, random_return, return_of_action, return_of_choice
from firstbreak.probes.environments.world import Kind
from firstbreak.probes.ladder.by_return import returns_of
from firstbreak.probes.ladder.rung import Rung
from firstbreak.probes.ladder.rungs import rungs

EPISODES = 3000
CASES = [(r, kind) for r in rungs().values() if r.asks in ("choice", "action") for kind in r.kinds]


def played(name: str, kind: Kind, act: Callable[[np.ndarray], object]) -> tuple[float, float]:
    """The mean return of episodes played out, and its standard error."""
    env = make_env(name, kind)
    env.reset(seed=0)
    env.action_space.seed(0)
    returns: list[float] = []
    for _ in range(EPISODES):
        seen, earned, over = env.reset()[0], 0.0, False
        while not over:
            seen, reward, terminated, truncated, _ = env.step(act(seen))
            earned, over = earned + float(reward), terminated or truncated
        returns.append(earned)
    return float(np.mean(returns)), float(np.std(returns)) / EPISODES**0.5


@pytest.mark.parametrize(("rung", "kind"), CASES, ids=[f"{r.name}-{k}" for r, k in CASES])
def test_chance_and_choices_pay_what_the_closed_form_says(rung: Rung, kind: Kind) -> None:
    world = WORLDS[rung.world.name]
    env = make_env(world.name, kind)
    env.action_space.seed(1)
    mean, error = played(world.name, kind, lambda seen: env.action_space.sample())
    assert abs(mean - random_return(world, kind)) <= 5 * error
    if world.targets:
        action = world.example(kind, 0)
        assert played(world.name, kind, lambda seen: np.array(action))[0] == pytest.approx(best_return(world, kind))
        assert return_of_action(world, kind, action) == pytest.approx(best_return(world, kind))
        return
    states = {tuple(np.float32(o)): s for s, o in enumerate(world.observations)}

    def at_bounds(cell: int) -> object:
        """The discrete action, or the point of the Box that a graded world pays in full."""
        if kind == "discrete":
            return cell
        middle = world.example(kind, cell)[0]
        return np.array([-1.0 + 2.0 * cell / (world.cells - 1) if world.graded else middle], np.float32)

    for cells in [(0,) * world.states, (world.cells - 1,) * world.states, tuple(s % 2 for s in range(world.states))]:
        choice = dict(enumerate(cells))
        mean, error = played(world.name, kind, lambda seen, c=cells: at_bounds(c[states[tuple(seen)]]))
        assert abs(mean - return_of_choice(world, kind, choice)) <= 5 * error + 1e-6
        assert return_of_choice(world, kind, choice) <= best_return(world, kind) + 1e-9


@pytest.mark.parametrize(("rung", "kind"), CASES, ids=[f"{r.name}-{k}" for r, k in CASES])
def test_every_mistake_pays_less_than_the_right_answer(rung: Rung, kind: Kind) -> None:
    found = returns_of(rung, kind, rung.for_kind(kind, rung.answers(0.9, False)))
    assert found.wrong
    assert all(w.answer[0] < found.right[0] for w in found.wrong)
    assert len({round(w.answer[0], 9) for w in found.wrong}) == len(found.wrong)
