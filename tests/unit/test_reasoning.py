"""The method of docs/design.md, section 6, on runs whose story is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firstbreak import synth
from firstbreak.api import diagnose_log
from firstbreak.causes import all_causes
from firstbreak.config import Settings
from firstbreak.diagnosis import Advice, Diagnosis, Verdict
from firstbreak.engine import run_rules
from firstbreak.finding import Link, Severity
from firstbreak.reasoning import reason
from firstbreak.registry import all_rules, find_rule
from firstbreak.runlog import RunLog
from firstbreak.series import Curve


def say(log: RunLog) -> Diagnosis:
    return diagnose_log(log, Settings())


@pytest.fixture(scope="module")
def collapse() -> Diagnosis:
    """Reward drops, KL spikes, clip fraction stays at one half."""
    return say(
        synth.like("PPO")(
            {
                "reward/episode_return_mean": synth.after(
                    0.55, synth.flat(30, 0.1), synth.ramp(20, 400, 0.03, begin=0.15, until=0.45)
                ),
                "policy/kl_old": synth.jump(0.01, 2.0, at=0.5, noise=0.2),
                "policy/clip_fraction": synth.jump(0.1, 0.5, at=0.5, noise=0.05),
            }
        )
    )


def test_collapse_starts_at_the_policy_update(collapse: Diagnosis) -> None:
    assert collapse.verdict is Verdict.BROKEN
    assert collapse.first_break is not None
    assert collapse.first_break.link is Link.POLICY_UPDATE
    assert 55 <= collapse.first_break.onset.lo <= collapse.first_break.onset.hi <= 66
    assert collapse.advice is Advice.STOP


def test_collapse_remedies_come_in_the_told_order(collapse: Diagnosis) -> None:
    words = ["Roll back", "learning rate", "epochs", "target KL", "advantage normalisation"]
    texts = [r.text for r in collapse.causes[0].remedies]
    assert len(texts) == len(words)
    assert all(word in text for word, text in zip(words, texts, strict=True))


def test_a_hard_bound_lifts_the_gate(collapse: Diagnosis) -> None:
    assert not any(r.provisional for r in collapse.causes[0].remedies)


def test_the_return_is_a_consequence(collapse: Diagnosis) -> None:
    returns = [f for f in collapse.findings if f.metric == "reward/episode_return_mean"]
    assert returns
    assert all(f.consequence_of == collapse.first_break.rule for f in returns if collapse.first_break)


def test_reward_up_benchmark_flat_outputs_longer_points_at_the_reward() -> None:
    diagnosis = say(
        synth.like("RLHF-PPO")(
            {
                "reward/train_mean": synth.ramp(0.2, 3.0, 0.02),
                "reward/eval_mean": synth.flat(0.42, 0.01),
                "seq/len_mean": synth.ramp(120, 480, 0.03),
            }
        )
    )
    assert diagnosis.causes[0].link is Link.REWARD_SIGNAL
    assert diagnosis.causes[0].name == "reward-hacking"
    assert "temperature and max_tokens" in diagnosis.causes[0].remedies[0].text
    assert any(c.evidence == "samples" for c in diagnosis.causes[0].confirm_with)


@pytest.mark.parametrize("algorithm", sorted(synth.HEALTHY))
def test_a_healthy_run_is_healthy(algorithm: str) -> None:
    diagnosis = say(synth.like(algorithm)({}))
    assert diagnosis.verdict is Verdict.HEALTHY, [f.message for f in diagnosis.findings]
    assert diagnosis.first_break is None
    assert diagnosis.advice is Advice.CONTINUE


def test_an_empty_run_is_undecided_and_says_what_to_log() -> None:
    diagnosis = say(synth.run({"reward/episode_return_mean": synth.flat(1.0)}, n=40, algorithm="PPO"))
    assert diagnosis.verdict is Verdict.UNDECIDED
    assert diagnosis.coverage.profile_missing
    assert diagnosis.coverage.unlock
    assert diagnosis.confirm_with


def test_causes_name_existing_rules() -> None:
    names = {r.name for r in all_rules()}
    unknown = {c.name: sorted(({*c.explains} | {*c.expects}) - names) for c in all_causes()}
    assert not {k: v for k, v in unknown.items() if v}


def test_every_rule_at_warning_or_above_is_explained_by_some_cause() -> None:
    explained = {name for cause in all_causes() for name, weight in cause.explains.items() if weight >= 1}
    orphans = [r.name for r in all_rules() if r.severity != "info" and r.name not in explained]
    lagging = {"return-collapse", "return-oscillates", "reward-flat", "custom-metric-worsens"}
    assert set(orphans) <= lagging


def test_the_first_cause_explains_the_first_break() -> None:
    seen = 0
    for rule in [r for r in all_rules() if r.severity is Severity.ERROR][::3]:
        found = say(rule.cases[0].run())
        if found.first_break is None or not found.causes:
            continue
        broke = found.first_break
        at_its_link = [c for c in found.causes if c.link is broke.link and explains(found, c.explains, broke.rule)]
        assert not at_its_link or found.causes[0] is at_its_link[0], rule.name
        seen += bool(at_its_link)
    assert seen > 5


def explains(found: Diagnosis, ids: tuple[str, ...], rule: str) -> bool:
    return any(f.id in ids and f.rule == rule for f in found.findings)


def over_optimised(score: synth.Shape) -> Diagnosis:
    """The reward model's score rises to the end; ten evaluations by the true measure beside it."""
    log = synth.like("GRPO", n=100)(
        {
            "reward/train_mean": synth.ramp(0.1, 1.4, 0.05),
            "policy/entropy": synth.geometric(1.0, 0.2, 0.02),
            "reward/eval_mean": score,
        }
    )
    thin = [
        replace(s, curve=Curve(s.step[9::10], s.value[9::10])) if s.metric == "reward/eval_mean" else s
        for s in log.series
    ]
    return say(replace(log, series=tuple(thin)))


def test_a_reward_at_its_best_is_no_excuse_for_a_score_that_is_gone() -> None:
    gone = over_optimised(synth.geometric(0.5, 0.005, 0.05))
    assert gone.verdict is Verdict.BROKEN
    assert gone.first_break is not None
    assert gone.first_break.name == "heldout-regression"
    assert over_optimised(synth.ramp(0.4, 0.7, 0.02)).verdict is not Verdict.BROKEN


@pytest.mark.parametrize(("at", "link"), [(0.3, Link.POLICY_UPDATE), (0.7, Link.ENVIRONMENT_DATA)])
def test_a_world_that_errs_only_after_the_policy_leapt_is_no_first_break(at: float, link: Link) -> None:
    """What predicts the next observation learned from the states that an earlier policy went to."""
    log = synth.like("PPO")(
        {"policy/kl_old": synth.jump(0.01, 30.0, at, 0.2), "env/dynamics_surprise": synth.jump(0.9, 40.0, 0.5, 0.1)}
    )
    first = say(log).first_break
    assert first is not None
    assert first.link is link


def test_of_a_world_and_a_policy_that_change_in_one_row_the_world_goes_first() -> None:
    log = synth.like("PPO")(
        {"policy/kl_old": synth.jump(0.01, 30.0, 0.5, 0.2), "env/dynamics_surprise": synth.jump(0.9, 40.0, 0.5, 0.1)}
    )
    first = say(log).first_break
    assert first is not None
    assert first.link is Link.ENVIRONMENT_DATA


def test_weights_that_changed_as_the_critic_went_blind_are_the_critics() -> None:
    log = synth.like("SAC")(
        {
            "optim/outside_change_frac": synth.spikes(0.0, 5.0, at=(0.5,)),
            "critic/q_max": synth.jump(0.3, -1.0, 0.51, 0.01),
            "critic/q_min": synth.after(0.51, synth.constant(-1.0), synth.flat(-3.0, 0.1)),
            "critic/td_error_mean": synth.flat(0.7, 0.05),
        }
    )
    first = say(log).first_break
    assert first is not None
    assert first.link is Link.CRITIC


def test_a_fall_that_nothing_explains_is_settled_by_a_checkpoint_from_before() -> None:
    fell = synth.after(0.8, synth.flat(120, 0.02), synth.ramp(20, 400, 0.02, until=0.6))
    log = synth.like("SAC", n=40)({"reward/episode_return_mean": fell})
    diagnosis = reason(log, run_rules(log, [find_rule("smooth-decline")]))
    assert diagnosis.verdict is Verdict.UNDECIDED
    assert diagnosis.coverage.withheld == ("the return ends far below its best",)
    assert diagnosis.confirm_with[0].experiment == "checkpoint from before"


def test_a_critic_that_is_wrong_way_round_at_once_speaks_of_the_sign_of_the_reward() -> None:
    agrees = synth.clipped(synth.flat(0.45, 0.2), 0.15, 1)
    turned = synth.clipped(synth.after(0.6, synth.flat(-0.4, 0.2), agrees), -1, 1)
    diagnosis = say(synth.like("RLHF-PPO")({"critic/value_corr": turned}))
    assert [cause.name for cause in diagnosis.causes][:2] == ["reward-sign", "reward-changed"]


@pytest.mark.parametrize(
    "shapes",
    [
        {
            "env/predicted_frac": synth.clipped(
                synth.spikes(0.995, 0.4, tuple(0.6 + 0.02 * i for i in range(8)), 0.002), -1, 1
            )
        },
        {
            "env/action_response": synth.clipped(
                synth.after(0.6, synth.flat(0.45, 0.2), synth.clipped(synth.flat(0.95, 0.03), -1, 1)), -1, 1
            ),
            "env/dynamics_surprise": synth.clipped(synth.spikes(1.0, 6.0, (0.6,), noise=0.1), 0, 99),
        },
    ],
    ids=["in some rows only", "beside much noise"],
)
def test_a_world_that_changes_in_part_is_named_first(shapes: dict[str, synth.Shape]) -> None:
    diagnosis = say(synth.like("PPO")(shapes))
    assert diagnosis.causes[0].name == "environment-changed"
    assert diagnosis.verdict is Verdict.UNDECIDED
