"""What a screen says to do is read off as it is printed, and counts for the links that it can show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks.outside import advised
from benchmarks.outside.advised import Thing, by_chance, entries, family_links, hits, read_off, things
from firstbreak import diagnose
from firstbreak.diagnosis import Skipped

if TYPE_CHECKING:
    from firstbreak.diagnosis import Diagnosis

SCREEN = """\
UNDECIDED: no fault found
run     a/run: cleanrl, PPO, policy/entropy is no advice here
decide  invariants of the loss: `firstbreak preflight invariants TRAINER`. On
        one recorded batch.
then    checkpoint from before: Play it now: if it earns what it did, updates
        broke the policy.
seen    3 of 9 rules looked; log these 2 to unlock 1 more: optim/grad_norm,
        --given gamma=
open    all as meant? `firstbreak preflight env`, `reward`
"""


@pytest.fixture(scope="module")
def diagnosis() -> Diagnosis:
    found = diagnose({"rollout/ep_rew_mean": [float(n) for n in range(40)], "train/loss": [1.0] * 40})
    waiting = (
        Skipped("NUM002", "grad-norm-explosion", "", ("optim/grad_norm or optim/actor_grad_norm",)),
        Skipped("CRT005", "q-over-bound", "", ("config gamma", "optim/grad_norm")),
        Skipped("POL010", "advantage-outliers", "", ("optim/grad_norm", "advantage/abs_max")),
    )
    return replace(found, coverage=replace(found.coverage, skipped=waiting), causes=())


def test_things_are_read_in_their_order_with_the_links_they_can_show(diagnosis: Diagnosis) -> None:
    assert read_off(SCREEN, diagnosis) == (
        Thing("preflight invariants", ("critic", "exploration", "policy_update")),
        Thing("checkpoint from before", ("environment_data", "reward_signal")),
        Thing("optim/grad_norm", ("critic", "numerics")),
        Thing("config gamma", ("critic",)),
        Thing("preflight env", ("environment_data",)),
        Thing("preflight reward", ("reward_signal",)),
    )


def test_an_entry_is_one_line_whatever_its_width() -> None:
    assert ("open", "all as meant? `firstbreak preflight env`, `reward`") in entries(SCREEN)
    assert dict(entries(SCREEN))["seen"].endswith("optim/grad_norm, --given gamma=")


def test_a_family_is_about_the_links_of_a_tenth_of_its_checks() -> None:
    assert family_links("environment") == ("environment_data",)
    assert family_links("no family") == ()


def test_a_report_of_ours_says_what_to_do() -> None:
    asked = things(diagnose({"rollout/ep_rew_mean": [5.0] * 40, "train/loss": [1.0] * 40}, config={"algo": "PPO"}))
    assert asked
    assert not {thing.what for thing in asked} & {"config algorithm"}


def test_chance_is_what_is_asked_of_one_run_held_against_the_faults_of_all_others() -> None:
    found = {"a": [Thing("x", ("critic",))], "b": [Thing("y", ("numerics",))], "c": [Thing("z", ())]}
    right = {"a": ["critic"], "b": ["critic"], "c": ["numerics"]}
    assert [hits(found[name], right[name]) for name in found] == [True, False, False]
    assert by_chance(found, right) == pytest.approx(2 / 6)  # a's against b's, b's against c's


def test_what_was_asked_before_is_kept_of_runs_of_the_lists() -> None:
    asked, healthy = advised.before()
    assert len(asked) == 107
    assert not set(asked) & set(healthy)
    assert all(len(rows) <= advised.MOST for rows in asked.values())
