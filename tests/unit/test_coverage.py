"""What was looked at: blind is not healthy, and what does not apply is not missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firstbreak import synth
from firstbreak.coverage import MIN_ROWS, cover, missing_profile, unseen_evaluation
from firstbreak.diagnosis import Coverage, Sight
from firstbreak.engine import Ending, Outcome, run_rules
from firstbreak.finding import Link
from firstbreak.registry import all_rules, find_rule
from firstbreak.runlog import RunLog


def coverage_of(log: RunLog) -> Coverage:
    return cover(log, run_rules(log, all_rules()))


def test_links_of_which_nothing_was_logged_are_blind() -> None:
    sights = coverage_of(synth.run({"policy/kl_old": synth.flat(0.01)}, algorithm="PPO")).links
    assert sights[Link.CRITIC] is Sight.BLIND
    assert sights[Link.POLICY_UPDATE] is not Sight.BLIND
    assert set(sights) == set(Link)


def test_the_numbers_add_up() -> None:
    outcomes = run_rules(synth.like("PPO")(), all_rules())
    coverage = cover(synth.like("PPO")(), outcomes)
    looked = [o for o in outcomes if o.status in (Ending.FIRED, Ending.CLEAR)]
    assert coverage.looked == len(looked)
    assert len(coverage.skipped) == sum(o.status is Ending.SKIPPED for o in outcomes)
    assert coverage.applicable == len(outcomes) - sum(not s.applies for s in coverage.skipped)
    assert coverage.looked <= coverage.applicable < len(outcomes)


def test_a_link_is_looked_at_by_all_rules_that_concern_the_run_and_well_seen_by_half() -> None:
    rules = [r for r in all_rules() if r.link is Link.CRITIC][:4]
    log = synth.like("PPO")()
    expected = [(Sight.BLIND, False), (Sight.PARTIAL, False), (Sight.PARTIAL, True), (Sight.PARTIAL, True)]
    for clear, (sight, well) in enumerate([*expected, (Sight.LOOKED, True)]):
        outcomes = [
            Outcome(r, Ending.CLEAR) if i < clear else Outcome(r, Ending.SKIPPED, reason="not logged: x")
            for i, r in enumerate(rules)
        ]
        coverage = cover(log, outcomes)
        assert (coverage.links[Link.CRITIC], coverage.well_seen(Link.CRITIC)) == (sight, well)
        assert coverage.rules[Link.CRITIC] == (clear, 4)
    unfit = [Outcome(r, Ending.SKIPPED, reason="does not apply to SAC") for r in rules[1:]]
    assert cover(log, [Outcome(rules[0], Ending.CLEAR), *unfit]).links[Link.CRITIC] is Sight.LOOKED


def test_what_unlocks_most_comes_first() -> None:
    wanted = [("a", "b"), ("b",), ("c",)]
    rules = all_rules()[:4]
    outcomes = [
        Outcome(r, Ending.SKIPPED, reason="not logged", unlock_with=w) for r, w in zip(rules, wanted, strict=False)
    ]
    outcomes.append(Outcome(rules[3], Ending.SKIPPED, reason="does not apply to PPO", unlock_with=("c", "d")))
    assert cover(synth.like("PPO")(), outcomes).unlock == (("b", 2), ("a", 1), ("c", 1))


def test_a_rule_that_fails_is_an_error_and_never_a_look() -> None:
    coverage = cover(synth.like("PPO")(), [Outcome(find_rule("kl-overshoot"), Ending.ERROR, reason="ValueError: x")])
    assert coverage.errors == (("kl-overshoot", "ValueError: x"),)
    assert (coverage.looked, coverage.links[Link.POLICY_UPDATE]) == (0, Sight.BLIND)


def test_links_with_an_error_have_failed_unless_the_user_ignores_it() -> None:
    log = synth.like("PPO")({"policy/kl_old": synth.flat(5.0)})
    outcome = run_rules(log, [find_rule("kl-overshoot")])[0]
    assert cover(log, [outcome]).failed == (Link.POLICY_UPDATE,)
    ignored = replace(outcome, findings=tuple(replace(f, ignored="on purpose") for f in outcome.findings))
    assert cover(log, [ignored]).failed == ()


@pytest.mark.parametrize("algorithm", sorted(synth.HEALTHY))
def test_a_healthy_run_of_an_algorithm_fills_its_profile(algorithm: str) -> None:
    assert missing_profile(synth.like(algorithm)()) == ()


def test_what_the_profile_lacks_is_named() -> None:
    short = synth.like("PPO", n=MIN_ROWS - 1)()
    assert missing_profile(short) == (f"at least {MIN_ROWS} logged rows (has {MIN_ROWS - 1})",)
    thin = missing_profile(synth.run({"policy/kl_old": synth.flat(0.01)}, algorithm="PPO"))
    assert any("explained_variance" in item for item in thin)
    assert missing_profile(synth.run({"policy/kl_old": synth.flat(0.01)})) == (
        "the algorithm (name it with --algorithm)",
    )


RETURNS = ("reward/episode_return_mean", "reward/episode_return")


@pytest.mark.parametrize("algorithm", ["A2C", "DQN", "SAC", "PPO"])
def test_a_rising_return_and_losses_alone_are_no_ground_for_healthy(algorithm: str) -> None:
    whole = synth.like(algorithm)()
    kept = tuple(s for s in whole.series if s.metric in (*RETURNS, "critic/loss"))
    thin = replace(whole, series=kept)
    coverage = coverage_of(thin)
    assert coverage.profile_missing
    assert not coverage.withheld
    assert coverage_of(whole).profile_missing == ()


def test_a_sign_that_is_left_open_is_a_sentence_and_counts_as_missing() -> None:
    open_sign = Outcome(all_rules()[0], Ending.SKIPPED, reason="the return fell", withholds=True)
    coverage = cover(synth.like("PPO")(), [open_sign])
    assert coverage.withheld == ("the return fell",)
    assert coverage.profile_missing[-1] == "the return fell"


def test_a_run_whose_evaluation_nobody_looked_at_is_not_healthy_as_a_whole() -> None:
    def missing(**more: synth.Shape) -> tuple[str, ...]:
        log = synth.like("GRPO")({name.replace("__", "/"): shape for name, shape in more.items()})
        return unseen_evaluation(replace(log, framework="trl"))

    scored = synth.ramp(0.2, 0.8, 0.01)
    assert missing() == ()
    assert "eval/prompts_trained_frac" in missing(reward__eval_mean=scored)[0]
    assert missing(reward__eval_mean=scored, eval__prompts_trained_frac=synth.constant(0.0)) == ()
    other = synth.like("GRPO")({"reward/eval_mean": scored})
    assert unseen_evaluation(replace(other, framework="verl")) == ()
