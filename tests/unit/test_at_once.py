"""A run against its own past: what moves together, what excuses it, and which metric names the link."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from firstbreak import at_once, synth
from firstbreak.at_once import (
    EVIDENCE,
    FAMILIES,
    LEFT_OUT,
    LINKS,
    Move,
    break_of,
    excused,
    family_of,
    leader_of,
    moves_of,
    weights_thrown,
)
from firstbreak.engine import run_rules
from firstbreak.finding import Link
from firstbreak.registry import find_rule
from firstbreak.runlog import RunLog
from firstbreak.series import Curve, Floats, Series, Tally
from firstbreak.stats import record_moves_of_each
from firstbreak.view import RunView
from firstbreak.vocabulary import metrics
from firstbreak.window import cut

SYSTEM = Link.SYSTEM_RESOURCES
NONE = Tally(0, 0, 0, 0, 0, 0, 0, 0)
"""Of a series that does not hold all it stands for: its moves are worked out of the points that are shown."""
BROKEN = {
    "critic/loss": synth.after(0.6, synth.flat(900, 0.1), synth.flat(30, 0.1)),
    "critic/explained_variance": synth.after(0.6, synth.flat(-0.8, 0.02), synth.flat(0.9, 0.02)),
}


def heavy_tails(time: Floats, rng: np.random.Generator) -> Floats:
    """Noise with wild single values."""
    return rng.standard_t(3, time.size)


def move(metric: str, factor: float = 10.0, lo: float = 99.0, hi: float = 100.0, up: bool = True) -> Move:
    family = family_of(metric)
    link = LINKS.get(family, Link(metrics()[metric].link))
    return Move(metric, family, link, lo, hi, factor, 1.0, 2.0 if up else 0.5)


def test_what_moves_together_is_one_break_at_its_row() -> None:
    found = break_of(RunView(synth.like("PPO")(BROKEN)))
    assert found is not None
    assert found.leader.metric == "critic/loss"
    assert found.families == ("errors", "fit")
    assert (found.leader.lo, found.leader.hi) == (72.0, 73.0)
    assert found.evidence >= EVIDENCE


@pytest.mark.parametrize("apart", [0.05, 0.2])
def test_what_moves_rows_apart_is_not(apart: float) -> None:
    later = {**BROKEN, "critic/loss": synth.after(0.6 + apart, synth.flat(900, 0.1), synth.flat(30, 0.1))}
    assert break_of(RunView(synth.like("PPO")(later))) is None


def test_units_and_offsets_do_not_matter() -> None:
    log = synth.like("PPO")(BROKEN)
    other = tuple(
        replace(s, curve=Curve(s.step, 1e3 * s.value)) if s.metric == "critic/loss" else s for s in log.series
    )
    one, two = break_of(RunView(log)), break_of(RunView(replace(log, series=other)))
    assert one is not None
    assert two is not None
    assert one.leader.factor == pytest.approx(two.leader.factor)


def test_a_run_that_goes_on_is_told_the_same() -> None:
    log, rule = synth.like("PPO", n=400)(BROKEN), find_rule("critic-moves-at-once")
    early = run_rules(cut(log, hi=300.0), [rule])[0].findings
    late = run_rules(log, [rule])[0].findings
    assert [f.onset for f in early] == [f.onset for f in late] != []


def test_noise_alone_is_no_break() -> None:
    names = ("critic/loss", "critic/explained_variance", "advantage/std", "policy/kl_old", "net/weight_norm")
    for seed in range(40):
        log = synth.run(dict.fromkeys(names, heavy_tails), n=300, algorithm="PPO", seed=seed)
        assert break_of(RunView(log)) is None


def test_each_family_holds_a_metric_and_the_first_that_fits_counts() -> None:
    held = {family_of(name) for name in metrics()}
    assert {name for name, _ in FAMILIES} <= held
    assert family_of("sac/alpha_loss") == "temperature"
    assert family_of("sac/alpha") == "setting"
    assert family_of("reward/env_mean") == "outcome"


@pytest.mark.parametrize(
    ("moves", "leader"),
    [
        (("critic/loss", "policy/kl_old"), "critic/loss"),
        (("critic/loss", "env/dynamics_surprise"), "env/dynamics_surprise"),
        (("critic/loss", "reward/env_surprise"), "reward/env_surprise"),
        (("critic/loss", "policy/entropy", "sac/alpha"), "sac/alpha"),
        (("optim/lr", "optim/alpha_lr", "critic/loss"), "optim/lr"),
        (("net/weight_norm", "env/dynamics_surprise", "critic/loss"), "net/weight_norm"),
        (("critic/target_delta", "policy/entropy"), "critic/target_delta"),
        (("reward/episode_return_mean", "obs/scale_median"), None),
    ],
)
def test_who_names_the_link(moves: tuple[str, ...], leader: str | None) -> None:
    found = leader_of([move(name) for name in moves])
    assert (found.metric if found else None) == leader


def test_what_moved_a_row_earlier_comes_first() -> None:
    late = move("critic/loss", lo=100.0, hi=101.0)
    assert leader_of([move("policy/entropy"), late]) == move("policy/entropy")


def test_a_model_of_the_world_that_errs_less_than_the_critic_does_not_speak() -> None:
    found = leader_of([move("env/dynamics_surprise", 6.0), move("critic/loss", 900.0)])
    assert found is not None
    assert found.link == Link.CRITIC


def test_returns_that_fall_with_the_critic_leave_the_link_open() -> None:
    assert leader_of([move("critic/loss"), move("reward/episode_return_mean", up=False)]) is None


def test_success_and_other_prompts_excuse_but_not_another_world() -> None:
    rise = move("reward/episode_return_mean")
    assert excused([move("critic/loss"), rise])
    assert not excused([move("critic/loss"), move("env/dynamics_surprise"), rise])
    assert excused([move("critic/loss"), move("seq/prompt_len_mean")])
    assert not excused([move("critic/loss"), move("reward/episode_return_mean", up=False)])


THROWN = {"net/weight_norm": synth.after(0.6, synth.flat(90.0, 0.001), synth.flat(20.0, 0.001))}
OUTSIDE = {"optim/outside_change_frac": synth.spikes(0.0, 0.6, (0.6,))}


@pytest.mark.parametrize("shapes", [THROWN, OUTSIDE], ids=["their size", "between two updates"])
def test_weights_are_thrown_in_their_row_and_shortly_after(shapes: dict[str, synth.Shape]) -> None:
    view = RunView(synth.like("PPO")(shapes))
    assert [weights_thrown(view, at) for at in (60.0, 73.0, 80.0, 100.0)] == [False, True, True, False]


def test_weights_that_grow_by_steps_of_one_size_are_not_thrown() -> None:
    view = RunView(synth.like("PPO")({"net/weight_norm": synth.ramp(20, 90, 0.0001)}))
    assert not any(weights_thrown(view, float(at)) for at in range(120))


def test_a_move_is_looked_for_once_a_metric_and_not_once_a_tick_and_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def count(values: list[Floats], **bars: Any) -> list[tuple[list[int], list[float]]]:
        asked.extend(value.size for value in values)
        return record_moves_of_each(values, **bars)

    monkeypatch.setattr(at_once, "record_moves_of_each", count)
    log = synth.like("PPO", n=400)(BROKEN)
    run_rules(log, [find_rule(f"{word}-moves-at-once") for word in ("critic", "policy", "environment", "reward")])
    assert len(asked) == len(judged(log)) > 5


def judged(log: RunLog) -> list[str]:
    return [name for name in RunView(log).metrics if not name.startswith(LEFT_OUT) and metrics()[name].link != SYSTEM]


@pytest.mark.parametrize("holes", [(), (0, 40, 41, 230), tuple(range(50))])
@pytest.mark.parametrize("n", [300, 1279, 1282, 3000])
def test_the_moves_of_a_prefix_are_those_of_the_log_so_far(n: int, holes: tuple[int, ...]) -> None:
    noise = np.random.default_rng(n).standard_t(2, n)
    noise[list(holes)] = np.nan
    noise[n // 2 :] += 20
    log = RunLog("t", series=(Series("critic/loss", Curve(np.arange(n) // 2, noise)),), algorithm="PPO")
    for hi in (n / 8, n / 4 + 0.5, n / 4 + 2, n / 3, n):
        prefix, alone = (RunView(one, hi).get("critic/loss") for one in (log, cut(log, hi=hi)))
        assert prefix is not None
        assert alone is not None
        assert moves_of(prefix) == moves_of(alone) == moves_of(replace(alone, source=replace(alone.source, whole=NONE)))
        late = RunView(log, hi, 30.0).get("critic/loss")
        assert late is not None
        assert moves_of(late) == moves_of(replace(late, source=replace(late.source, whole=NONE)))


def test_series_measured_together_move_as_each_alone() -> None:
    """A monitor keeps some points of each series, so that none of them opens its series."""
    log = synth.run({**BROKEN, "advantage/std": heavy_tails, "policy/kl_old": heavy_tails}, n=300, algorithm="PPO")
    live = tuple(
        replace(s, whole=replace(NONE, total=len(s)), curve=s.curve if i else Curve(s.step[9:], s.value[9:]))
        for i, s in enumerate(log.series)
    )
    view = RunView(replace(log, series=live))
    alone = [m for name in view.metrics if (points := view.get(name)) is not None for m in moves_of(points)]
    found = break_of(view)
    assert found is not None
    assert {m for m in alone if (m.lo, m.hi) == (found.leader.lo, found.leader.hi)} <= set(found.moves) <= set(alone)
