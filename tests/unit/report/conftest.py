"""Three diagnoses written by hand, so that what the rules say today does not move what the faces print."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.diagnosis import (
    Advice,
    Confirmation,
    Coverage,
    Diagnosis,
    FirstBreak,
    RankedCause,
    Remedy,
    Sight,
    Skipped,
    Verdict,
)
from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.runlog import ClockMap, Problem, Provenance, RunLog
from firstbreak.series import WHOLE_RUN, Curve

HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07 [bold]x[/bold] <script>alert('1')</script> \u202eevil`|*@all ::error::%0A\x00\nline"
)


PPO = {
    "reward/episode_return_mean": synth.ramp(20, 400, 0.03, until=0.8),
    "episode/length_mean": synth.ramp(20, 400, 0.03, until=0.8),
    "policy/kl_old": synth.flat(0.008, 0.1),
    "policy/clip_fraction": synth.flat(0.1, 0.1),
    "policy/entropy": synth.ramp(0.69, 0.45, 0.02),
    "policy/loss": synth.flat(-0.01, 0.5),
    "critic/explained_variance": synth.ramp(0.0, 0.9, 0.05, until=0.4),
    "critic/loss": synth.geometric(60, 20, 0.2),
    "optim/grad_norm": synth.flat(0.6, 0.1),
    "optim/lr": synth.constant(3e-4),
    "time/fps": synth.flat(1500, 0.03),
}


def run_log(**changes: object) -> RunLog:
    broken = PPO | {"policy/kl_old": synth.jump(0.01, 3.0, at=0.4155)}
    config = {"lr": 0.1, "gamma": 0.99}
    log = synth.run(broken, framework="stable_baselines3", algorithm="PPO", config=config, n=1000)
    steps = np.arange(1, 1001, dtype=np.float64)
    kept = {
        "path": "logs/ppo_run",
        "clocks": ClockMap("updates", steps, {"seconds": steps * 1.0947}),
        "provenance": Provenance(
            ("logs/ppo_run/progress.csv",),
            (("logs/ppo_run/model.zip", "not a log"),),
            ("csv",),
            (Problem("logs/ppo_run/progress.csv", "line 12", "cut short.", "The other rows were kept."),),
        ),
        "unmapped": {"train/my_kl": Curve(steps[:3], steps[:3])},
        "guesses": {"train/my_kl": "policy/kl_old"},
    }
    return replace(log, **{**kept, **changes})  # pyright: ignore[reportArgumentType]


def coverage(**changes: object) -> Coverage:
    links = dict.fromkeys(Link, Sight.LOOKED)
    links[Link.ENVIRONMENT_DATA] = Sight.PARTIAL
    links[Link.DATA_FRESHNESS] = Sight.BLIND
    kept = Coverage(
        links=links,
        rules={link: {Sight.LOOKED: (5, 5), Sight.PARTIAL: (1, 6), Sight.BLIND: (0, 8)}[links[link]] for link in Link},
        looked=31,
        applicable=44,
        skipped=(
            Skipped("CRT005", "q-over-bound", "does not apply to PPO", applies=False),
            waiting("POL010", "advantage-outliers", "advantage/abs_max", Link.POLICY_UPDATE),
            waiting("EVA001", "train-eval-gap", "reward/eval_return_mean", Link.EVALUATION_PROTOCOL),
            waiting("NUM002", "grad-norm-explosion", "optim/grad_norm", Link.NUMERICS),
        ),
        unlock=(("advantage/abs_max", 1), ("optim/grad_norm", 1), ("reward/eval_return_mean", 1)),
    )
    return replace(kept, **changes)  # pyright: ignore[reportArgumentType]


def waiting(code: str, name: str, metric: str, link: Link) -> Skipped:
    return Skipped(code, name, f"not logged: {metric}", (metric,), link=link)


def kl_finding(**changes: object) -> Finding:
    kept = Finding(
        rule="POL001",
        name="kl-overshoot",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        severity=Severity.ERROR,
        onset=Onset(412, 420, "updates"),
        message="KL per update reached 3.14 nats (limit 1)",
        metric="policy/kl_old",
        evidence={"kl_max_nats": 3.14, "limit_nats": 1.0, "worst": float("inf")},
        static=True,
        params_hash="0123abcd",
    )
    return replace(kept, **changes)  # pyright: ignore[reportArgumentType]


def follower() -> Finding:
    return kl_finding(
        rule="EXP001",
        name="entropy-collapse",
        link=Link.EXPLORATION,
        severity=Severity.WARNING,
        onset=Onset(450, 480, "updates"),
        message="entropy fell to 0.02 nats (4 % of its start)",
        metric="policy/entropy",
        evidence={"entropy_nats": 0.02},
        consequence_of="POL001",
        static=False,
    )


def top_cause() -> RankedCause:
    return RankedCause(
        name="update-too-large",
        summary="Each update moves the policy further than its data supports: learning rate, epochs or batch size.",
        link=Link.POLICY_UPDATE,
        component=Component.OPTIMISER,
        score=3.42,
        explains=("POL001", "EXP001"),
        rivals=("reward-scale-mismatch",),
        separate_with=("advantage/abs_max", "optim/grad_norm"),
        confirm_with=(Confirmation("learning rate / 3", "Replay one saved batch with a third of the learning rate."),),
        remedies=(
            Remedy("Reduce the epochs per batch.", (Link.ENVIRONMENT_DATA, Link.REWARD_SIGNAL), provisional=True),
            Remedy("Lower the learning rate (a third, then a tenth)."),
        ),
    )


@pytest.fixture
def broken() -> Diagnosis:
    return Diagnosis(
        log=run_log(),
        verdict=Verdict.BROKEN,
        first_break=FirstBreak(
            Link.POLICY_UPDATE,
            Component.OPTIMISER,
            WHOLE_RUN,
            "POL001",
            "kl-overshoot",
            "policy/kl_old",
            Onset(412, 420, "updates"),
        ),
        causes=(top_cause(),),
        findings=(kl_finding(), follower()),
        coverage=coverage(failed=(Link.POLICY_UPDATE,)),
        advice=Advice.STOP,
        last_healthy_checkpoint="logs/ppo_run/checkpoint_400",
        clear=("policy-frozen", "lr-schedule-fault"),
        notes=("the last row was incomplete",),
    )


@pytest.fixture
def healthy() -> Diagnosis:
    log = synth.run(PPO, framework="stable_baselines3", algorithm="PPO")
    return Diagnosis(
        log=replace(log, path="logs/good"),
        verdict=Verdict.HEALTHY,
        first_break=None,
        causes=(),
        findings=(),
        coverage=coverage(skipped=(), unlock=()),
        advice=Advice.CONTINUE,
        clear=("kl-overshoot",),
    )


@pytest.fixture
def undecided() -> Diagnosis:
    warning = kl_finding(severity=Severity.WARNING, static=False)
    return Diagnosis(
        log=run_log(algorithm="", framework="", state="running"),
        verdict=Verdict.UNDECIDED,
        first_break=None,
        causes=(),
        findings=(warning,),
        coverage=coverage(profile_missing=("critic/loss",)),
        advice=Advice.CANNOT_TELL,
        confirm_with=(Confirmation("baseline score", "Score a random and an expert policy under the same protocol."),),
    )


@pytest.fixture
def hostile(broken: Diagnosis) -> Diagnosis:
    """Every string that can come from a log carries escapes, markup and commands."""
    curve = Curve(np.arange(3.0), np.array([1.0, np.nan, np.inf]))
    log = replace(
        broken.log,
        path=f"/tmp/{HOSTILE}",
        framework=HOSTILE,
        algorithm=HOSTILE,
        state=HOSTILE,
        config={HOSTILE: HOSTILE, "lr": {"nested": HOSTILE}},
        unmapped={HOSTILE: curve},
        guesses={HOSTILE: "policy/kl_old"},
        provenance=Provenance((HOSTILE,), ((HOSTILE, HOSTILE),), (HOSTILE,), (Problem(HOSTILE, HOSTILE, HOSTILE),)),
    )
    finding = kl_finding(message=HOSTILE, evidence={HOSTILE: HOSTILE}, scope=replace(WHOLE_RUN, policy=HOSTILE))
    skipped = (Skipped("X", "x", HOSTILE, (HOSTILE,)),)
    return replace(
        broken,
        log=log,
        findings=(finding,),
        coverage=coverage(skipped=skipped, unlock=((HOSTILE, 1),), errors=(("x", HOSTILE),)),
        notes=(HOSTILE,),
        last_healthy_checkpoint=HOSTILE,
    )
