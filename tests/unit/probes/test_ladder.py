"""The whole ladder on a tabular learner: right, slow, and with one planted mistake at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError
from firstbreak.probes.api import probe

from .tabular import make_train


def test_a_right_learner_passes_every_rung() -> None:
    seen = probe(make_train(), isolate=False)
    assert seen.verdict is Verdict.HEALTHY, (seen.findings, seen.details["rungs"], seen.errors)
    assert not seen.errors
    assert "environments-mixed" in seen.clear


def test_a_learner_that_is_slow_but_right_is_not_called_broken() -> None:
    seen = probe(make_train(rate=0.05, policy_rate=0.05), isolate=False)
    assert seen.verdict is not Verdict.BROKEN, (seen.findings, seen.details["rungs"])


def test_a_learner_that_is_far_too_slow_is_undecided() -> None:
    seen = probe(make_train(rate=0.001), isolate=False, steps=320)
    assert seen.verdict is Verdict.UNDECIDED, (seen.findings, seen.details["rungs"])
    assert any("still approaching" in s.reason for s in seen.skipped)


def test_a_discount_of_its_own_that_is_never_told_is_read_from_the_values() -> None:
    seen = probe(make_train("own_gamma", "silent_gamma"), isolate=False)
    assert seen.verdict is Verdict.HEALTHY, (seen.findings, seen.details["rungs"])
    assert any("imply 0.9" in note for note in seen.notes)


@pytest.mark.parametrize("silent", [(), ("silent_gamma",)], ids=["told", "silent"])
def test_a_fixed_discount_near_one_fails_no_right_learner_and_what_it_hides_is_said(silent: tuple[str, ...]) -> None:
    seen = probe(make_train("own_gamma", *silent, own_gamma=0.99), isolate=False)
    assert seen.verdict is Verdict.HEALTHY, (seen.findings, seen.details["rungs"])
    reasons = {s.name: s for s in seen.skipped}
    assert "a wrong discount would look the same" in reasons["discount-wrong"].reason
    assert "out of reach" in reasons["time-limit-as-end"].reason
    assert any("gamma" in one for one in reasons["time-limit-as-end"].unlock_with)
    assert {"termination-not-cut", "value-not-learned", "episodes-mixed"} <= set(seen.clear)


@pytest.mark.parametrize(
    ("bug", "name"),
    [
        ("truncated_cut", "time-limit-as-end"),
        ("terminal_kept", "value-not-learned"),
        ("batch_end", "batch-end-not-bootstrapped"),
    ],
)
def test_a_fixed_discount_near_one_hides_no_other_mistake(bug: str, name: str) -> None:
    seen = probe(make_train("own_gamma", bug, own_gamma=0.99), isolate=False)
    assert seen.first_break is not None, seen.details["rungs"]
    assert seen.first_break.name == name


def test_an_agent_without_values_is_judged_by_its_actions() -> None:
    seen = probe(make_train("no_value"), isolate=False)
    assert not seen.findings
    assert "best-action-not-found" in seen.clear
    assert {s.name for s in seen.skipped} >= {"value-not-learned", "discount-wrong"}


PLANTED = [
    ("no_critic", "value-not-learned", "optimiser", "never moves"),
    ("advantage_target", "value-not-learned", "advantage", "without + V"),
    ("terminal_kept", "value-not-learned", "advantage", "not cut at termination"),
    ("value_mean", "value-ignores-observation", "value", "averaged"),
    ("gamma_missing", "discount-wrong", "advantage", "not applied"),
    ("gamma_twice", "discount-wrong", "advantage", "twice"),
    ("gamma_other", "discount-wrong", "advantage", "discounted by 0.8 a step"),
    ("reward_late", "value-ignores-observation", "rollout", "another episode"),
    ("truncated_cut", "time-limit-as-end", "advantage", "treated as termination"),
    ("reset_obs", "time-limit-as-end", "rollout", "next episode"),
    ("batch_end", "batch-end-not-bootstrapped", "advantage", "last row"),
    ("env_mix", "discount-wrong", "advantage", "not bootstrapped or of a wrong row"),
    ("reward_clip", "reward-scale-lost", "reward", "clipped"),
    ("sign", "best-action-not-found", "loss", "sign"),
    ("no_policy", "best-action-not-found", "loss", "chance"),
    ("first_action_only", "best-action-not-found", "sampler", "tried 0 times"),
    ("state_blind", "policy-ignores-state", "loss", ""),
    ("first_dimension", "action-dimension-not-learned", "loss", "only the first"),
    ("myopic", "credit-not-delayed", "advantage", "small reward"),
    ("sign_only", "advantage-size-lost", "advantage", "size"),
    ("never_deterministic", "deterministic-flag-ignored", "evaluation", "differed"),
    ("collector_frozen", "behaviour-not-updated", "rollout", "late training"),
    ("raises", "trainer-fails", "system", "buffer is smaller"),
]


@pytest.mark.parametrize(("bug", "name", "component", "words"), PLANTED, ids=[p[0] for p in PLANTED])
def test_one_mistake_is_named_at_its_component(bug: str, name: str, component: str, words: str) -> None:
    seen = probe(make_train(bug), isolate=False)
    assert seen.verdict is Verdict.BROKEN, seen.details["rungs"]
    assert seen.first_break is not None
    assert (seen.first_break.name, seen.first_break.component.value) == (name, component), seen.findings
    first = next(f for f in seen.findings if f.name == name)
    assert words in first.message
    assert len(first.message) <= 120
    assert any(ch.isdigit() for ch in first.message)


def test_everything_climbs_on_and_calls_the_higher_rungs_consequences() -> None:
    seen = probe(make_train("gamma_missing"), isolate=False, everything=True)
    by_name = {f.name: f for f in seen.findings}
    assert by_name["termination-not-cut"].consequence_of == "PRB003" if "termination-not-cut" in by_name else True
    assert "best-action-not-found" in seen.clear
    assert replace(seen).first_break is not None


def test_a_refusal_by_one_of_our_own_errors_does_not_concern_the_trainer() -> None:
    right = make_train()

    def picky(make_env: Any, *, total_steps: int, seed: int, gamma: float = 0.99) -> Any:
        if not hasattr(make_env().action_space, "n"):
            raise InputError("These actions are not supported.", "Discrete ones are.")
        return right(make_env, total_steps=total_steps, seed=seed, gamma=gamma)

    seen = probe(picky, isolate=False, steps=1600)
    assert seen.first_break is None, seen.findings
    assert any("does not take" in note for note in seen.notes)
