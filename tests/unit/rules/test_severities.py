"""What makes the same finding a note, a warning or an error: the severities that rules give themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.finding import Severity
from firstbreak.registry import find_rule
from firstbreak.runlog import RunLog
from firstbreak.series import Floats

GRPO, PPO = synth.like("GRPO"), synth.like("PPO")
CHANGE, CUT, SCORE = "optim/outside_change_frac", "seq/truncated_fraction", "reward/eval_mean"
RETURN, ENTROPY = "reward/episode_return_mean", "policy/entropy"
ENDLESS = {CUT: synth.clipped(synth.flat(0.98, 0.01), 0, 1)}
ALIKE = {"reward/env_mean": synth.constant(1.0), "reward/env_std": synth.constant(0.0)}
FAILS = {RETURN: synth.clipped(synth.ramp(20, 8, 0.05, begin=0.1, until=0.5), 9.3, 99)}
SOLVED = {"group/all_solved_fraction": synth.clipped(synth.ramp(0.1, 0.95, until=0.4), 0, 1)}
FALLS_BACK = {SCORE: synth.after(0.4, synth.flat(0.45, 0.05), synth.ramp(0.3, 0.9, 0.02, until=0.3))}
LEARNS = {"reward/train_mean": synth.ramp(0.3, 1.0, 0.02, until=0.4)}
LONG_PAST = {SCORE: synth.after(0.4, synth.flat(0.45, 0.05), synth.ramp(0.3, 0.9, 0.02, until=0.2))}
SINKS = {SCORE: synth.after(0.4, synth.flat(0.75, 0.01), synth.ramp(0.3, 0.9, 0.02, until=0.2))}
FILLS = {CUT: synth.clipped(synth.ramp(0.1, 0.97, 0.02, until=0.6), 0, 1), SCORE: synth.flat(0.4, 0.05)}

SLIPS = {SCORE: synth.after(0.4, synth.flat(0.6, 0.03), synth.ramp(0.1, 0.9, 0.02, until=0.3))}
ALWAYS_CUT = {CUT: synth.clipped(synth.ramp(0.6, 0.9, 0.02), 0, 1)}
SUCCESS = {"reward/success_rate": synth.clipped(synth.flat(0.6, 0.1), 0, 1)}
TRIES, PROMPTS = "reward/eval_pass_at_k", "seq/prompt_len_mean"
LOST = {"reward/train_mean": synth.after(0.5, synth.flat(0.25, 0.05), synth.ramp(0.2, 0.9, 0.02, until=0.4))}
LONGER, LATER = {PROMPTS: synth.jump(5.5, 7.0, 0.5, 0.05)}, {PROMPTS: synth.jump(5.5, 7.0, 0.8, 0.05)}
LOOPS = {"seq/repetition_fraction": synth.clipped(synth.ramp(0.0, 0.2, 0.05), 0, 1)}
BACK_UP = {"optim/lr": synth.after(0.5, synth.constant(3e-4), synth.ramp(3e-4, 1e-5, 0, until=0.5))}
ABOVE = {"optim/lr": synth.after(0.5, synth.constant(9e-4), synth.ramp(3e-4, 1e-5, 0, until=0.5))}
LINEAR = synth.like("PPO", config={"lr_schedule": "linear"})
HOT = synth.like("GRPO", config={"temperature": 5.0})

REPEATS, UNCUT = (
    {"seq/repetition_fraction": synth.clipped(synth.ramp(0.0, 0.45, 0.05), 0, 1)},
    {CUT: synth.constant(0.0)},
)
HIGHER = {"optim/lr": synth.after(0.5, synth.ramp(1.2e-3, 1e-6, 0), synth.ramp(3e-4, 1e-5, 0))}
STAYS = {"optim/lr": synth.after(0.5, synth.constant(6e-4), synth.ramp(3e-4, 1e-5, 0))}
UNSURE = {
    ENTROPY: synth.after(0.5, synth.flat(0.25), synth.clipped(synth.ramp(0.74, 0.12, 0.002, until=0.3), 0.12, 1)),
    "reward/train_mean": synth.jump(0.95, 0.2),
}
EMPTY, LATE = {"seq/aborted_fraction": synth.jump(0.0, 0.4, 0.9)}, {PROMPTS: synth.jump(5.5, 7.0, 0.9, 0.05)}
JUST = {PROMPTS: synth.jump(5.5, 7.0, 0.975, 0.05)}
INFO, WARNING, ERROR = Severity.INFO, Severity.WARNING, Severity.ERROR
TIMED, STEP = {RETURN: synth.constant(-500.0), "episode/length_mean": synth.constant(500.0)}, "reward/step_max"
GOES_ON, FLAT = {"total_steps": 200}, {"reward/env_std": synth.constant(0.0)}


def broken_off(t: Floats, rng: np.random.Generator) -> Floats:
    """Small costs [n], and four numbers that have nothing in common."""
    value = -0.05 + 0.001 * rng.standard_normal(t.size)
    value[[50, 65, 80, 100]] = [90.0, 7e3, 40.0, 1200.0]
    return value


SAID: dict[str, tuple[str, Severity, Callable[[], RunLog]]] = {
    "loops while the score falls": (
        "repetition-rising",
        WARNING,
        lambda: GRPO(LOOPS | UNCUT | {SCORE: synth.ramp(0.8, 0.4, 0.02)}),
    ),
    "loops that are cut off": (
        "repetition-rising",
        WARNING,
        lambda: GRPO(LOOPS | {SCORE: synth.flat(0.6, 0.02), CUT: synth.clipped(synth.ramp(0.0, 0.4, 0.02), 0, 1)}),
    ),
    "many repeat, and answers get better": (
        "repetition-rising",
        INFO,
        lambda: GRPO(REPEATS | UNCUT | {SCORE: synth.ramp(0.2, 0.8, 0.02)}),
    ),
    "many repeat, and answers get no better": (
        "repetition-rising",
        WARNING,
        lambda: GRPO(REPEATS | UNCUT | {SCORE: synth.flat(0.6, 0.02)}),
    ),
    "a rate that falls again from a higher peak": ("lr-schedule-fault", INFO, lambda: PPO(HIGHER)),
    "the same beside a schedule that says so no more": ("lr-schedule-fault", INFO, lambda: LINEAR(HIGHER)),
    "a rate that something set": ("lr-schedule-fault", WARNING, lambda: PPO(STAYS)),
    "no longer sure, far from the start": ("policy-jumps", WARNING, lambda: GRPO(UNSURE)),
    "as unsure as at the start": (
        "policy-jumps",
        ERROR,
        lambda: GRPO({ENTROPY: synth.jump(0.4, 1.6), "reward/train_mean": synth.jump(0.7, 0.1)}),
    ),
    "no longer sure of longer problems": ("policy-jumps", INFO, lambda: GRPO(UNSURE | LONGER)),
    "no longer sure, longer problems later": ("policy-jumps", WARNING, lambda: GRPO(UNSURE | LATER)),
    "silent before new problems": ("empty-responses", INFO, lambda: GRPO(EMPTY | LATE)),
    "silent before problems new three rows ago": (
        "empty-responses",
        INFO,
        lambda: GRPO({"seq/aborted_fraction": synth.jump(0.0, 0.4, 0.975)} | JUST),
    ),
    "silent, no new problems": ("empty-responses", WARNING, lambda: GRPO(EMPTY)),
    "silent before problems that are no longer new": (
        "empty-responses",
        WARNING,
        lambda: GRPO({"seq/aborted_fraction": synth.jump(0.0, 0.4, 0.5)} | LONGER),
    ),
    "nearly all silent before new problems": (
        "empty-responses",
        ERROR,
        lambda: GRPO({"seq/aborted_fraction": synth.jump(0.0, 0.97, 0.9)} | LATE),
    ),
    "weights overwritten": ("weights-changed-outside", ERROR, lambda: PPO({CHANGE: synth.spikes(0, 0.6, at=(0.6,))})),
    "weights nudged": ("weights-changed-outside", WARNING, lambda: PPO({CHANGE: synth.spikes(0, 0.02, at=(0.6,))})),
    "endless, no success": (
        "no-eos-from-start",
        ERROR,
        lambda: GRPO(ENDLESS | {SCORE: synth.constant(0.0), "reward/train_mean": synth.ramp(-3.5, -3.0, 0.02)}),
    ),
    "endless, score stands": ("no-eos-from-start", WARNING, lambda: GRPO(ENDLESS | {SCORE: synth.flat(0.3, 0.05)})),
    "endless, score rises": ("no-eos-from-start", INFO, lambda: GRPO(ENDLESS | {SCORE: synth.ramp(0.1, 0.8, 0.02)})),
    "certain to fail": ("return-below-start", ERROR, lambda: PPO(FAILS | {ENTROPY: synth.ramp(0.69, 0.1, 0.02)})),
    "fails in doubt": ("return-below-start", INFO, lambda: PPO(FAILS | {ENTROPY: synth.flat(0.69)})),
    "fails, continuous": ("return-below-start", WARNING, lambda: PPO(FAILS | {"policy/action_std": synth.flat(0.5)})),
    "fails where steps pay alike": (
        "learns-to-fail",
        ERROR,
        lambda: PPO(FAILS | ALIKE | {ENTROPY: synth.ramp(0.69, 0.1, 0.02)}),
    ),
    "another world now": (
        "dynamics-changed",
        ERROR,
        lambda: PPO({"env/dynamics_surprise": synth.jump(0.9, 40.0, 0.6, 0.1)}),
    ),
    "another world again and again": (
        "dynamics-changed",
        WARNING,
        lambda: PPO({"env/dynamics_surprise": synth.spikes(0.9, 15.0, (0.02, 0.04, 0.06, 0.08, 0.1), noise=0.2)}),
    ),
    "solved, score falls back": ("prompts-used-up", WARNING, lambda: GRPO(SOLVED | FALLS_BACK)),
    "solved, score slips": ("prompts-used-up", WARNING, lambda: GRPO(SOLVED | SLIPS)),
    "solved, score rises": ("prompts-used-up", INFO, lambda: GRPO(SOLVED | {SCORE: synth.ramp(0.3, 0.9, 0.02)})),
    "learned by heart": ("best-long-past", WARNING, lambda: GRPO(LONG_PAST | LEARNS)),
    "past its best": ("best-long-past", INFO, lambda: GRPO(SINKS | LEARNS)),
    "nearly all cut": ("truncation-growing", ERROR, lambda: GRPO(FILLS)),
    "cut as ever, reward rises": ("truncation-growing", INFO, lambda: GRPO(ALWAYS_CUT)),
    "cut as ever, reward flat": (
        "truncation-growing",
        WARNING,
        lambda: GRPO(ALWAYS_CUT | {"reward/train_mean": synth.flat(0.3, 0.05)}),
    ),
    "held out never solved": ("evaluation-all-wrong", WARNING, lambda: GRPO(SUCCESS | {SCORE: synth.constant(0.0)})),
    "held out solved no more": (
        "evaluation-all-wrong",
        ERROR,
        lambda: GRPO(SUCCESS | {SCORE: synth.after(0.5, synth.constant(0.0), synth.flat(0.6, 0.05))}),
    ),
    "drawn hot": ("sampling-temperature-high", WARNING, lambda: HOT({})),
    "drawn hot, solves nothing": (
        "sampling-temperature-high",
        ERROR,
        lambda: HOT({SCORE: synth.ramp(0.22, 0.1, 0.02), "reward/success_rate": synth.constant(0.0)}),
    ),
    "fewer problems in reach, single tries worse": (
        "pass-at-k-falls",
        WARNING,
        lambda: GRPO({TRIES: synth.ramp(0.8, 0.7, 0.01), SCORE: synth.ramp(0.5, 0.4, 0.02)}),
    ),
    "fewer problems in reach, single tries hold": (
        "pass-at-k-falls",
        INFO,
        lambda: GRPO({TRIES: synth.ramp(0.8, 0.7, 0.01), SCORE: synth.flat(0.4, 0.02)}),
    ),
    "fewer problems in reach, single tries better": (
        "pass-at-k-falls",
        INFO,
        lambda: GRPO({TRIES: synth.ramp(0.8, 0.7, 0.01), SCORE: synth.ramp(0.4, 0.7, 0.01)}),
    ),
    "loops while the score holds": ("repetition-rising", INFO, lambda: GRPO(LOOPS | {SCORE: synth.flat(0.4, 0.02)})),
    "loops while the score rises": (
        "repetition-rising",
        INFO,
        lambda: GRPO(LOOPS | {SCORE: synth.ramp(0.3, 0.7, 0.02)}),
    ),
    "rate goes back up, nobody said why": ("lr-schedule-fault", INFO, lambda: PPO(BACK_UP)),
    "a schedule that goes one row past its end": (
        "lr-schedule-fault",
        INFO,
        lambda: PPO({"optim/lr": synth.ramp(3e-4, -1e-6, 0.0)}),
    ),
    "a schedule that goes well past its end": (
        "lr-schedule-fault",
        ERROR,
        lambda: PPO({"optim/lr": synth.ramp(3e-4, -1e-5, 0.0)}),
    ),
    "a rate that jumps in the very last row": (
        "lr-schedule-fault",
        INFO,
        lambda: PPO({"optim/lr": synth.after(0.995, synth.constant(3e-3), synth.ramp(3e-4, 1e-5, 0.0))}),
    ),
    "linear rate goes back up": ("lr-schedule-fault", WARNING, lambda: LINEAR(BACK_UP)),
    "rate goes up above all before": ("lr-schedule-fault", WARNING, lambda: PPO(ABOVE)),
    "reward lost": ("return-collapse", WARNING, lambda: GRPO(LOST)),
    "reward lost as longer problems come in": ("return-collapse", INFO, lambda: GRPO(LOST | LONGER)),
    "reward lost before longer problems come in": ("return-collapse", WARNING, lambda: GRPO(LOST | LATER)),
    "every episode the same to the time limit, the run goes on": (
        "reward-constant",
        INFO,
        lambda: replace(synth.like("PPO", config=GOES_ON, clock="env_steps")(TIMED | FLAT), state="running"),
    ),
    "the same reward for episodes of any length, the run goes on": (
        "reward-constant",
        WARNING,
        lambda: replace(
            synth.like("PPO", config=GOES_ON, clock="env_steps")(TIMED | {"episode/length_mean": synth.flat(99, 0.2)}),
            state="running",
        ),
    ),
    "every episode the same to the time limit to the end": (
        "reward-constant",
        WARNING,
        lambda: synth.like("PPO", config=GOES_ON, clock="env_steps")(TIMED | FLAT),
    ),
    "one and the same reward in every step of episodes of any length": (
        "reward-constant",
        ERROR,
        lambda: PPO(TIMED | {"reward/env_std": synth.constant(0.0), "episode/length_mean": synth.flat(99, 0.2)}),
    ),
    "lone payments of one size": (
        "reward-outliers",
        INFO,
        lambda: PPO({STEP: synth.spikes(-0.05, 100.0, at=(0.4, 0.55, 0.7, 0.9), noise=0.02)}),
    ),
    "lone rewards of any size": (
        "reward-outliers",
        WARNING,
        lambda: PPO({STEP: broken_off}),
    ),
    "half cut": (
        "truncation-growing",
        WARNING,
        lambda: GRPO(FILLS | {CUT: synth.clipped(synth.ramp(0.1, 0.5, 0.02), 0, 1)}),
    ),
}


def test_a_mean_of_one_old_episode_is_no_constant_reward() -> None:
    """Its length is one number as well: nothing new was measured, and that is said rather than called healthy."""
    (outcome,) = run_rules(PPO(TIMED), [find_rule("reward-constant")])
    assert outcome.findings == ()
    assert outcome.withholds


@pytest.mark.parametrize(("falls_at", "withheld"), [(0.97, True), (0.995, False), (2.0, False)])
def test_a_return_that_ends_far_below_its_best_is_not_called_healthy(falls_at: float, withheld: bool) -> None:
    """Three rows are too few for an alarm, and one may be a bad batch."""
    lost = synth.after(falls_at, synth.flat(60.0, 0.05), synth.ramp(20.0, 220.0, 0.03))
    (outcome,) = run_rules(PPO({RETURN: lost}), [find_rule("smooth-decline")])
    assert outcome.findings == ()
    assert outcome.withholds is withheld


@pytest.mark.parametrize(("now", "withheld"), [(22.0, True), (180.0, False)])
def test_one_lucky_episode_does_not_make_a_run_healthy_that_lost_what_it_had_learned(
    now: float, withheld: bool
) -> None:
    """Returns of single episodes scatter by half: the last of them says little, a sixteenth of all of them enough."""
    fell = synth.after(0.9, synth.flat(now, 0.5), synth.ramp(20.0, 224.0, 0.3, until=0.6))
    lucky = synth.after(0.997, synth.constant(220.0), fell)
    log = synth.like("DQN", n=600)({RETURN: lucky})
    (outcome,) = run_rules(log, [find_rule("smooth-decline")])
    assert outcome.findings == ()
    assert outcome.withholds is withheld


@pytest.mark.parametrize("level", [22.0, 12.0])
def test_a_return_that_scatters_or_ends_below_its_start_is_not_called_healthy(level: float) -> None:
    moves = synth.flat(22.0, 0.05) if level == 22.0 else synth.ramp(22.0, level, 0.02, until=0.3)
    (outcome,) = run_rules(synth.like("DQN")({RETURN: moves}), [find_rule("smooth-decline")])
    assert outcome.findings == ()
    assert outcome.withholds


def test_a_return_that_stands_higher_but_came_down_is_not_said_to_be_no_better() -> None:
    rose_and_fell = synth.after(0.7, synth.flat(150.0), synth.ramp(20.0, 230.0, until=0.65))
    (outcome,) = run_rules(synth.like("DQN", n=60)({RETURN: rose_and_fell}), [find_rule("smooth-decline")])
    assert outcome.reason == "the return's gain cannot be told from its ups and downs"
    assert outcome.withholds
    (outcome,) = run_rules(synth.like("DQN", n=60)({RETURN: synth.flat(22.0)}), [find_rule("smooth-decline")])
    assert outcome.reason == "the return is no better than at the start"


@pytest.mark.parametrize("name", SAID)
def test_a_rule_says_how_bad_it_is(name: str) -> None:
    rule, severity, build = SAID[name]
    (outcome,) = run_rules(build(), [find_rule(rule)])
    assert [f.severity for f in outcome.findings] == [severity]
