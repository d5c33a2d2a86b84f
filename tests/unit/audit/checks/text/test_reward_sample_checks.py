"""Checks of rewards, people's scores, groups, steps and tokens: a case that fires, a healthy one, a near miss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from firstbreak.audit.collecting import collect
from firstbreak.audit.sample import Sample, Tokens
from firstbreak.check import Look, find_check, look_at
from firstbreak.finding import Severity

from .made_answers import answers, honest

NAN = math.nan


def look(name: str, samples: Sequence[Sample], reference: Sequence[Sample] | None = None) -> Look:
    table = replace(collect(samples), reference=None if reference is None else collect(reference))
    found = look_at(find_check(name), table)
    assert not found.error, found.error
    return found


def changed(samples: Sequence[Sample], **columns: Sequence[float]) -> list[Sample]:
    return [replace(s, **{k: v[i] for k, v in columns.items()}) for i, s in enumerate(samples)]


HONEST = answers()
RANDOM = Random(3)
NOISE = [RANDOM.gauss(0, 1) for _ in HONEST]
REWARD = [s.reward for s in HONEST]


def test_missing_rewards_are_counted_and_none_at_all_is_told() -> None:
    some = changed(HONEST, reward=[NAN if i in {7, 30} else r for i, r in enumerate(REWARD)])
    found = look("sample-rewards-missing", some).symptom
    assert found is not None
    assert (found.evidence["missing"], found.evidence["first_row"]) == (2, 8)
    assert look("sample-rewards-missing", HONEST).symptom is None
    none = look("sample-rewards-missing", changed(HONEST, reward=[NAN] * len(HONEST)))
    assert none.skip is not None
    assert none.skip.withholds


def test_equal_rewards() -> None:
    assert look("sample-rewards-all-equal", changed(HONEST, reward=[0.5] * len(HONEST))).symptom is not None
    almost = [0.5] * (len(HONEST) - 1) + [0.6]
    assert look("sample-rewards-all-equal", changed(HONEST, reward=almost)).symptom is None
    assert look("sample-rewards-all-equal", changed(HONEST[:5], reward=[1.0] * 5)).skip is not None


def test_flat_groups_are_split_into_right_and_wrong() -> None:
    places = [int(s.group[1:]) for s in HONEST]
    flat = [0.0 if p < 14 else 1.0 if p < 26 else r for p, r in zip(places, REWARD, strict=True)]
    found = look("prompt-groups-flat", changed(HONEST, reward=flat)).symptom
    assert found is not None
    assert found.evidence["all_lowest"] == 14
    assert found.evidence["all_highest"] >= 12
    third = [0.0 if p < 10 else r for p, r in zip(places, REWARD, strict=True)]
    assert look("prompt-groups-flat", changed(HONEST, reward=third)).symptom is None
    alone = [replace(s, group=f"x{i}") for i, s in enumerate(HONEST)]
    assert look("prompt-groups-flat", alone).skip is not None


def test_a_tail_of_rewards() -> None:
    far = [n if i else 500.0 for i, n in enumerate(NOISE)]
    found = look("few-samples-hold-the-reward", changed(HONEST, reward=far)).symptom
    assert found is not None
    assert found.evidence["farthest_spreads"] > 100
    assert look("few-samples-hold-the-reward", changed(HONEST, reward=NOISE)).symptom is None
    assert look("few-samples-hold-the-reward", HONEST).symptom is None


def test_where_every_prompt_earns_as_much_nobody_is_called_lowest_or_highest() -> None:
    found = look("prompt-groups-flat", changed(HONEST, reward=[1.0] * len(HONEST))).symptom
    assert found is not None
    assert "lowest" not in found.message
    assert found.severity is None
    assert (found.evidence["all_lowest"], found.evidence["all_highest"]) == (0, 0)
    assert found.evidence["all_between"] == found.evidence["prompts"]


def test_a_ranking_by_success_is_not_said_to_be_peoples() -> None:
    upside_down = changed(HONEST, success=[r < 0.5 for r in REWARD], human=[NAN] * len(HONEST))
    found = look("group-ranking-disagrees", upside_down).symptom
    assert found is not None
    assert "success of the task" in found.message
    assert "people" not in found.message


@pytest.mark.parametrize("name", ["reward-against-people", "group-ranking-disagrees", "top-paid-judged-badly"])
def test_without_peoples_scores_they_say_what_would_help(name: str) -> None:
    skip = look(name, HONEST).skip
    assert skip is not None
    assert any("human" in one for one in skip.unlock_with)


def judged(weight: float) -> list[Sample]:
    return changed(HONEST, reward=NOISE, human=[weight * n + RANDOM.gauss(0, 0.7) for n in NOISE])


@pytest.mark.parametrize("name", ["reward-against-people", "group-ranking-disagrees"])
def test_a_reward_against_people_is_an_error_an_unrelated_one_a_warning(name: str) -> None:
    against, agrees = look(name, judged(-1.0)).symptom, look(name, judged(1.0)).symptom
    assert against is not None
    assert against.severity is Severity.ERROR
    assert agrees is None


def test_success_stands_in_for_people() -> None:
    samples = [replace(s, reward=n, success=n < 0) for s, n in zip(HONEST, NOISE, strict=True)]
    assert look("reward-against-people", samples).symptom is not None
    assert look("group-ranking-disagrees", samples).symptom is not None


def test_a_prompts_difficulty_does_not_hide_a_bad_ranking() -> None:
    """Over all samples the reward follows people; at each prompt it does not."""
    level = [float(s.group[1:]) for s in HONEST]
    mixed = changed(
        HONEST,
        reward=[a + 0.3 * n for a, n in zip(level, NOISE, strict=True)],
        human=[a - 0.3 * n for a, n in zip(level, NOISE, strict=True)],
    )
    assert look("reward-against-people", mixed).symptom is None
    assert look("group-ranking-disagrees", mixed).symptom is not None


def test_best_paid_that_are_judged_badly() -> None:
    human = [0.8 * r + 0.1 * n for r, n in zip(REWARD, NOISE, strict=True)]
    fooled = [-0.5 if r == 1 and i % 3 == 0 else h for i, (r, h) in enumerate(zip(REWARD, human, strict=True))]
    found = look("top-paid-judged-badly", changed(HONEST, human=fooled)).symptom
    assert found is not None
    assert found.severity is Severity.ERROR
    assert found.evidence["judged_badly_frac"] == pytest.approx(1 / 3, abs=0.1)
    assert look("top-paid-judged-badly", changed(HONEST, human=human)).symptom is None


def test_equal_answers_paid_differently() -> None:
    twins = [replace(s, response=f"{s.group} says {s.row % 2}") for s in HONEST]
    assert look("equal-answers-paid-differently", twins).symptom is not None
    same = [replace(s, reward=float(s.row % 2)) for s in twins]
    assert look("equal-answers-paid-differently", same).symptom is None
    assert look("equal-answers-paid-differently", HONEST).skip is not None


def test_rivals_that_are_identical_or_alike() -> None:
    equal = [replace(s, response=f"{s.prompt} It is as it is and so it stays.") for s in HONEST]
    assert look("rivals-identical", equal).symptom is not None
    assert look("rivals-alike", equal).symptom is not None
    short = [replace(s, response="42") for s in HONEST]
    assert look("rivals-identical", short).symptom is None
    for name in ("rivals-identical", "rivals-alike"):
        assert look(name, HONEST).symptom is None


def test_answers_that_ignore_their_prompt() -> None:
    random = Random(0)
    of_prompt = [replace(s, response=f"{s.prompt[12:60]} {honest(random)}") for s in HONEST]
    assert look("answers-ignore-prompt", of_prompt).symptom is None
    of_none = [
        replace(s, response="It goes as it always goes and nothing else can be said of it here.") for s in HONEST
    ]
    assert look("answers-ignore-prompt", of_none).symptom is not None
    assert look("answers-ignore-prompt", [replace(s, response="7") for s in HONEST]).skip is not None


def stepped(prompts: int = 60) -> list[Sample]:
    return answers(prompts=prompts, step=lambda place, rival, marked: float(place // 5))


def late(sample: Sample) -> bool:
    return sample.step >= 6


def test_the_triad_needs_all_three() -> None:
    samples = stepped()
    random = Random(1)
    long = [replace(s, response=s.response * 4, reward=s.reward + 1.0) if late(s) else s for s in samples]
    worse = [replace(s, human=random.gauss(0.2 if late(s) else 0.8, 0.1)) for s in long]
    better = [replace(s, human=random.gauss(0.8 if late(s) else 0.2, 0.1)) for s in long]
    found = look("reward-hacking-triad", worse).symptom
    assert found is not None
    assert found.severity is Severity.ERROR
    assert look("reward-hacking-triad", better).symptom is None
    unsaid = look("reward-hacking-triad", long).skip
    assert unsaid is not None
    assert unsaid.withholds
    assert look("reward-hacking-triad", samples).symptom is None
    assert look("reward-hacking-triad", HONEST).skip is not None


def test_the_triad_against_a_reference() -> None:
    before = changed(HONEST, human=[0.8 + 0.05 * n for n in NOISE])
    after = [replace(s, response=s.response * 4, reward=s.reward + 1, human=0.2 + 0.05 * n) for s, n in
             zip(answers(seed=9), NOISE, strict=True)]  # fmt: skip
    assert look("reward-hacking-triad", after, before).symptom is not None
    assert look("reward-hacking-triad", before, before).symptom is None


def test_wrong_answers_that_grow() -> None:
    samples = stepped()
    grown = [replace(s, response=s.response * 2) if late(s) and s.reward == 0 else s for s in samples]
    assert look("wrong-answers-grow-longer", grown).symptom is not None
    both = [replace(s, response=s.response * 2) if late(s) else s for s in samples]
    assert look("wrong-answers-grow-longer", both).symptom is None
    assert look("wrong-answers-grow-longer", samples).symptom is None
    assert look("wrong-answers-grow-longer", HONEST).skip is not None


def test_density_that_falls() -> None:
    samples = stepped()
    empty = "and so it goes on and on as it did before and will do again "
    thin = [replace(s, response=(empty * 9)[: len(s.response)]) if late(s) else s for s in samples]
    assert look("density-falls", thin).symptom is not None
    assert look("density-falls", samples).symptom is None
    longer = [
        replace(s, response=s.response + " " + honest(Random(i))) if late(s) else s for i, s in enumerate(samples)
    ]
    assert look("density-falls", longer).symptom is None


SORRY = "I'm sorry, but I can't help with that request."


def test_refusals_that_drift() -> None:
    samples = [replace(s, unsafe=s.row % 2 == 0) for s in stepped()]
    more = [replace(s, response=SORRY) if late(s) and not s.unsafe and s.row % 3 == 0 else s for s in samples]
    found = look("refusals-drift", more).symptom
    assert found is not None
    assert found.evidence["of"] == "harmless prompts"
    safer = [replace(s, response=SORRY) if late(s) and s.unsafe else s for s in samples]
    assert look("refusals-drift", safer).symptom is None
    fewer = [replace(s, response=SORRY) if not late(s) and s.unsafe else s for s in samples]
    assert look("refusals-drift", fewer).symptom is not None
    assert look("refusals-drift", HONEST).skip is not None


def test_unsafe_prompts_that_are_answered() -> None:
    asked = [replace(s, unsafe=True) for s in HONEST]
    refused = [replace(s, response=SORRY) for s in asked]
    tenth = [s if i % 10 == 0 else r for i, (s, r) in enumerate(zip(asked, refused, strict=True))]
    assert look("unsafe-prompts-answered", asked).symptom is not None
    assert look("unsafe-prompts-answered", tenth).symptom is None
    assert look("unsafe-prompts-answered", tenth, refused).symptom is not None
    assert look("unsafe-prompts-answered", HONEST).skip is not None


def test_length_that_is_bought() -> None:
    random = Random(2)
    texts = [honest(random, random.randint(1, 9)) for _ in HONEST]
    long = [float(len(t)) + 60 * n for t, n in zip(texts, NOISE, strict=True)]
    samples = [replace(s, response=t, reward=r) for s, t, r in zip(HONEST, texts, long, strict=True)]
    found = look("reward-buys-length", samples).symptom
    assert found is not None
    assert found.severity is Severity.WARNING
    against = look("reward-buys-length", changed(samples, human=[-r for r in long])).symptom
    assert against is not None
    assert against.severity is Severity.ERROR
    assert look("reward-buys-length", changed(samples, human=long)).symptom is None
    assert look("reward-buys-length", changed(samples, reward=NOISE)).symptom is None


def test_a_reward_that_is_length_with_one_answer_to_each_prompt() -> None:
    random = Random(4)
    own = [replace(s, group=f"alone {i}", response=honest(random, random.randint(1, 9))) for i, s in enumerate(HONEST)]
    size = [float(len(s.response)) for s in own]
    paid = changed(own, reward=[n + 20 * z for n, z in zip(size, NOISE, strict=True)])
    found = look("reward-is-answer-length", paid).symptom
    assert found is not None
    assert found.evidence["samples"] == len(own)
    assert look("reward-is-answer-length", changed(own, reward=NOISE)).symptom is None
    assert look("reward-is-answer-length", changed(paid, human=size)).symptom is None
    right = changed(own, reward=[float(n > np.median(size)) for n in size])  # the longer half is right, the other wrong
    assert look("reward-is-answer-length", right).symptom is None
    assert look("reward-is-answer-length", paid[:60]).skip is not None
    assert look("reward-is-answer-length", [replace(s, response="yes") for s in paid]).skip is not None


def test_length_and_reward_that_grow_in_the_course_of_training_are_not_one() -> None:
    random = Random(5)
    grown = [
        replace(s, step=i // 40, response=honest(random, 2 + i // 40), reward=i // 40 + 0.1 * NOISE[i])
        for i, s in enumerate(HONEST)
    ]
    assert look("reward-is-answer-length", grown).symptom is None
    assert look("reward-is-answer-length", [replace(s, step=0) for s in grown]).symptom is not None


def test_truncation_paid_and_punished() -> None:
    cut = [replace(s, truncated=s.row % 3 == 0) for s in HONEST]
    paid = [replace(s, reward=1.0) if s.truncated else s for s in cut]
    punished = [replace(s, reward=0.0) if s.truncated else s for s in cut]
    assert look("truncation-paid", paid).symptom is not None
    assert look("truncation-paid", cut).symptom is None
    assert look("truncation-punished", punished).symptom is not None
    assert look("truncation-punished", cut).symptom is None
    assert look("truncation-paid", HONEST).skip is not None
    assert look("truncation-punished", HONEST).skip is not None


def tokens(**more: object) -> Tokens:
    ids = (5, 6, 7, 8, 9, 10)
    whole = {"ids": ids, "start": 2, "loss_mask": (0, 0, 1, 1, 1, 1), "logprobs": (-1.0, -0.5, -2.0, 0.0)}
    whole["retokenised"] = ids
    return Tokens(**{**whole, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("retokenised-differently", {"retokenised": (5, 6, 7, 8, 11, 10)}),
        ("prompt-tokens-trained", {"loss_mask": (0, 1, 1, 1, 1, 1)}),
        ("response-masked-out", {"loss_mask": (0, 0, 0, 0, 0, 0)}),
        ("sample-lengths-disagree", {"logprobs": (-1.0, -0.5)}),
        ("logprobs-impossible", {"logprobs": (-1.0, 0.5, -2.0, 0.0)}),
    ],
)
def test_faults_of_tokens(name: str, fault: dict[str, object]) -> None:
    sound = [replace(s, tokens=tokens()) for s in HONEST]
    assert look(name, sound).symptom is None
    broken = [replace(s, tokens=tokens(**fault)) if i in {4, 9} else s for i, s in enumerate(sound)]
    found = look(name, broken).symptom
    assert found is not None
    assert found.evidence["samples"] == 2
    assert found.evidence["first_row"] == 5
    assert look(name, HONEST).skip is not None


def test_a_partly_masked_response_is_no_fault() -> None:
    part = [replace(s, tokens=tokens(loss_mask=(0, 0, 1, 0, 0, 1))) for s in HONEST]
    assert look("response-masked-out", part).symptom is None


def test_every_finding_fits_on_a_line_and_shows_no_text() -> None:
    secret = "zanzibar"
    samples = [replace(s, response=f"{secret} {s.response}", prompt=f"{secret} {s.prompt}") for s in judged(-1.0)]
    for name in ("reward-against-people", "group-ranking-disagrees", "top-paid-judged-badly"):
        found = look(name, samples).symptom
        if found is not None:
            assert len(found.message) <= 120
            assert secret not in found.message + str(found.evidence)
    assert np.isfinite(NOISE).all()
