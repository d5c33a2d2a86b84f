"""What is true of hypotheses, which pairs are made, and what their verdicts are worth."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.faults.catalogue import faults, healthy, tasks
from benchmarks.faults.planting import FAMILY
from benchmarks.settle.campaign import CHOSEN, LATER, RESULTS
from benchmarks.settle.choosing import (
    Pair,
    curveless,
    dealt,
    dealt_elsewhere,
    dealt_later,
    one_of_each,
    read_pairs,
    write_pairs,
)
from benchmarks.settle.publish import made_of, page, summary
from benchmarks.settle.subjects import makeable
from benchmarks.settle.truths import Truth, Verdict, judged, table
from firstbreak.errors import InputError
from firstbreak.experiments.experiment import names
from firstbreak.experiments.result import Outcome
from firstbreak.experiments.settle.ties import TIES


def test_the_table_names_what_exists() -> None:
    labels = {tie.label for tie in TIES.values()} | set(names())
    known = set(faults()) | set(healthy())
    for one in table().values():
        assert one.name in labels, one.name
        for key in (*one.true, *one.false, *one.open):
            what, at, where = key.partition("@")
            assert not what or what in known, key
            assert not at or where in {*FAMILY, *tasks()}, key


def test_every_answer_has_a_reason() -> None:
    for fault in faults().values():
        for where in fault.subjects:
            subject, _, task = where.partition(":")
            if makeable(subject):
                for one in table().values():
                    for midway in (False, True):
                        assert len(one.of(subject, task, fault.id, midway)[1]) > 10


def test_the_closest_entry_counts() -> None:
    critic, zero, golden = (table()[n] for n in ("overfit-one-batch", "zero-learning-rate", "rescore-golden-set"))
    assert critic.of("sac", "Pendulum-v1", "critic-dead")[0] is Truth.TRUE
    assert critic.of("ppo", "CartPole-v1", "critic-dead")[0] is Truth.FALSE
    assert zero.of("sb3_ppo", "ReachNormalised", "clean")[0] is Truth.TRUE
    assert zero.of("sb3_ppo", "ReachNormalised", "resume-without-normaliser")[0] is Truth.OPEN
    assert zero.of("sb3_ppo", "Reach", "clean")[0] is Truth.FALSE
    assert golden.of("sac", "Pendulum-v1", "reward-clipped", midway=True)[0] is Truth.TRUE
    assert golden.of("sac", "Pendulum-v1", "reward-clipped", midway=False)[0] is Truth.FALSE


def test_what_a_verdict_is_worth() -> None:
    assert judged(Truth.TRUE, Outcome.CONFIRMED) is judged(Truth.FALSE, Outcome.REFUTED) is Verdict.RIGHT
    assert judged(Truth.FALSE, Outcome.CONFIRMED) is Verdict.WRONG_CONFIRMED
    assert judged(Truth.TRUE, Outcome.REFUTED) is Verdict.WRONG_REFUTED
    assert judged(Truth.FALSE, Outcome.INCONCLUSIVE) is Verdict.INCONCLUSIVE
    with pytest.raises(ValueError, match="settles"):
        judged(Truth.OPEN, Outcome.CONFIRMED)


def pair(number: int, what: str = "critic-off", truth: Truth = Truth.TRUE, experiment: str = "critic-only-fit") -> Pair:
    run = f"ppo/CartPole-v1/{what}/{number}"
    return Pair(run, "f", what, "held", experiment, 0.5, 0, (("a", 2.0), ("b", 1.0)), truth, "it is so")


def test_pairs_are_dealt_by_what_they_are_not_by_their_order() -> None:
    many = [
        pair(n, what, truth, experiment)
        for n in range(5)
        for what in ("critic-off", "clean", "reward-flipped")
        for truth in Truth
        for experiment in ("critic-only-fit", "overfit-one-batch")
    ]
    first = dealt(many, 12)
    mixed = list(many)
    Random(1).shuffle(mixed)
    assert dealt(mixed, 12) == first
    assert len(first) == 12
    assert Truth.OPEN not in {p.truth for p in first}
    assert set(Counter((p.experiment, p.truth) for p in first).values()) == {3}
    assert len({p.what for p in first}) == 3
    assert len(dealt(many, 1000)) == 60


def test_later_pairs_are_of_other_runs_and_of_what_was_planted_seldom_so_far() -> None:
    before = [pair(n) for n in range(3)] + [pair(9, truth=Truth.OPEN)]
    every = [*before, *(pair(n) for n in (4, 5)), pair(1, "clean"), pair(2, "clean", experiment="reversed-reward")]
    later = dealt_later(every, before, 2)
    assert {p.run for p in later}.isdisjoint({p.run for p in before if p.truth != Truth.OPEN})
    assert later[0].what == "clean", "critic-off was dealt three times before"
    assert [curveless(p) for p in later] == [True, True, False], "cheap ones first, then a few with a learning curve"


def test_pairs_elsewhere_are_one_of_each_place_and_of_none_that_was_made_before() -> None:
    before = [pair(n) for n in range(3)] + [pair(9, "clean", truth=Truth.OPEN)]
    every = [*before, pair(4), *(pair(n, "clean") for n in (4, 5)), pair(6, "clean", experiment="reversed-reward")]
    found = dealt_elsewhere(every, before, 5)
    assert [p.what for p in found] == ["clean", "clean"], "critic-off has been made with another seed"
    assert [p.experiment for p in found] == [every[0].experiment, "reversed-reward"]


def test_every_place_is_made_again_once() -> None:
    every = [
        pair(0),
        pair(1),
        pair(2, "clean"),
        pair(3, "clean", truth=Truth.OPEN),
        pair(4, experiment="reversed-reward"),
    ]
    again = one_of_each(every)
    assert {p.site for p in again} == {every[0].site, every[2].site, every[4].site}
    assert len(again) == 3
    assert one_of_each(every[::-1]) == again


DEALS = ("results", "later", "third", "fourth", "fifth", "sixth")


def sites_of(name: str) -> list[tuple[str, str]]:
    return [pair.site for pair in read_pairs(RESULTS.parent / name / CHOSEN) if pair.truth != Truth.OPEN]


@pytest.mark.parametrize("name", ["fifth", "sixth"])
def test_pairs_of_the_last_deals_are_of_places_of_their_own(name: str) -> None:
    mine = sites_of(name)
    assert len(set(mine)) == len(mine)
    assert set(mine).isdisjoint(site for deal in DEALS[: DEALS.index(name)] for site in sites_of(deal))


def test_every_place_of_the_first_five_deals_is_made_once_more() -> None:
    assert sorted(sites_of("again")) == sorted({site for deal in DEALS[:5] for site in sites_of(deal)})


def test_every_pair_whose_trials_became_cheaper_is_made_anew_and_no_other() -> None:
    """Not only those that had cost too much: chance alone would bring these down."""
    again = read_pairs(RESULTS.parent / "again" / CHOSEN)
    wanted = {
        pair.id
        for pair in again
        if pair.truth != Truth.OPEN
        and (
            pair.name in ("zero-learning-rate", "oracle-against-random")
            or (pair.name == "critic-only-fit" and pair.run.split("/")[0] in ("sac", "sb3_sac"))
        )
    }
    assert {pair.id for pair in read_pairs(RESULTS.parent / "mended" / CHOSEN)} == wanted


def test_the_later_pairs_that_are_kept_share_no_run_with_the_earlier_ones() -> None:
    earlier, later = (
        [pair for pair in read_pairs(folder / CHOSEN) if pair.truth != Truth.OPEN] for folder in (RESULTS, LATER)
    )
    assert {pair.run for pair in earlier}.isdisjoint({pair.run for pair in later})
    assert len(later) >= 12
    assert 0.3 <= sum(pair.truth == Truth.FALSE for pair in later) / len(later) <= 0.7
    for one in later:
        subject, task, what, _ = one.run.split("/")
        assert one.truth in {table()[one.experiment].of(subject, task, what, midway)[0] for midway in (False, True)}


def test_pairs_are_written_and_read_back(tmp_path: Path) -> None:
    kept = [pair(1), pair(2, truth=Truth.FALSE)]
    write_pairs(kept, tmp_path / "pairs.json")
    assert read_pairs(tmp_path / "pairs.json") == kept
    with pytest.raises(InputError, match="no such file"):
        read_pairs(tmp_path / "none.json")


def result(outcome: str, cpu_s: float = 0.5) -> dict[str, Any]:
    said = {"outcome": outcome, "why": "decided", "words": "As it was measured."}
    return {"result": said, "ended": "", "cpu_s": cpu_s, "startup_cpu_s": 3.0, "run_cpu_s": 10.0}


def test_the_page_counts_and_lists_what_was_not_right() -> None:
    made = [
        made_of(pair(1), result("confirmed")),
        made_of(pair(2, "clean", Truth.FALSE), result("refuted")),
        made_of(pair(3, "clean", Truth.FALSE), result("confirmed", cpu_s=2.0)),
        made_of(pair(4), {"result": None, "ended": "refused: no", "run_cpu_s": 10.0}),
        made_of(pair(5, "reward-flipped", Truth.TRUE, "reversed-reward"), result("refuted", cpu_s=80.0)),
    ]
    text = page(made, [pair(6, "weights-nan", Truth.OPEN)])
    said = summary(made)
    assert "Right: 2 of 5 (40%; 5% to 85%)" in said
    assert "Wrong confirmed: 1 of 5" in said
    assert "wrong refuted: 1 of 5" in said
    assert "inconclusive: 1 of 5" in said
    assert "Hypotheses that are false: 2 of 5" in said
    assert "2 of 3 (67%" in said, "one of three experiments without a learning curve cost more than a tenth"
    for lost in ("clean/3", "critic-off/4", "reward-flipped/5"):
        assert f"- ppo/CartPole-v1/{lost}" in text
    assert "- ppo/CartPole-v1/critic-off/1" not in text
    assert "weights-nan" in text
    assert asdict(made[0])["share"] == 0.05
