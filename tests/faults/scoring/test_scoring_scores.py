"""Every score against a slow, obvious twin on runs made up by Hypothesis."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from benchmarks.faults.scoring import scores, told
from benchmarks.faults.scoring.answer import Alarm, Answer
from benchmarks.faults.scoring.assessing import BESIDE, FIRSTBREAK, Assessed
from benchmarks.faults.scoring.catalogue import Fault
from benchmarks.faults.scoring.floors import HEALTHY, always, best_fixed
from benchmarks.faults.scoring.intervals import Estimate
from benchmarks.faults.scoring.page import given_rows, open_table

from .made import runs

TOOL = FIRSTBREAK


def share(found: Estimate, good: int, n: int) -> None:
    assert found.n == n
    if n:
        assert found.hits == good
        assert found.value == good / n
        assert found.lo <= found.value <= found.hi


def twin_of_detection_and_alarms(many: list[Assessed]):
    good = anything = n = 0
    for run in many:
        if run.fault is None:
            continue
        n += 1
        allowed = [run.fault.link, *run.fault.also_right]
        hit = some = False
        for alarm in run.answers[TOOL].alarms:
            if alarm.at >= run.start:
                some = True
                for link in alarm.links:
                    hit = hit or link in allowed
        good += hit
        anything += some
    share(scores.detection(many, TOOL), good, n)
    share(scores.any_alarm(many, TOOL), anything, n)


def twin_of_false_alarms_and_their_rules(many: list[Assessed]):
    for hard in (False, True, None):
        kinds = {False: ["healthy"], True: ["hard_negative:x"], None: ["healthy", "hard_negative:x"]}[hard]
        chosen = [run for run in many if run.fault is None and run.kind in kinds]
        share(scores.false_alarms(many, TOOL, hard), sum(run.answers[TOOL].alarms != () for run in chosen), len(chosen))
    mid = [run for run in many if run.mid_run]
    early = [run for run in mid if [a for a in run.answers[TOOL].alarms if a.at < run.start]]
    share(scores.early_false_alarms(many, TOOL), len(early), len(mid))
    by_rule = {
        name: (on_healthy, before, right) for name, on_healthy, before, right in scores.false_alarms_by_rule(many, TOOL)
    }
    for name in ("kl", "nan", "flat"):
        on_healthy = sum(any(a.name == name for a in run.answers[TOOL].alarms) for run in many if run.fault is None)
        before = sum(any(a.name == name and a.at < run.start for a in run.answers[TOOL].alarms) for run in mid)
        assert by_rule.get(name, (0, 0, 0))[:2] == (on_healthy, before)


def twin_of_clean_detection_discounts_kinds_that_cry_wolf(many: list[Assessed]):
    good = n = 0
    for run in many:
        if run.fault is None:
            continue
        n += 1
        for alarm in run.answers[TOOL].alarms:
            wolf = False
            for other in many:
                if other.fault is None and other.algorithm == run.algorithm:
                    wolf = wolf or alarm.name in [a.name for a in other.answers[TOOL].alarms]
            right = alarm.at >= run.start and any(x in (run.fault.link, *run.fault.also_right) for x in alarm.links)
            if right and not wolf:
                good += 1
                break
    share(scores.clean_detection(many, TOOL), good, n)


def twin_of_links_causes_and_first_metric(many: list[Assessed]):
    broken = [run for run in many if run.fault is not None]
    for k in (1, 2):
        lenient = strict = 0
        for run in broken:
            assert run.fault is not None
            top = list(run.answers[TOOL].links)[:k]
            lenient += any(link == run.fault.link or link in run.fault.also_right for link in top)
            strict += run.fault.link in top
        share(scores.link_top(many, TOOL, k), lenient, len(broken))
        share(scores.link_top(many, TOOL, k, strict=True), strict, len(broken))
    named = [run for run in broken if run.fault is not None and len(run.fault.causes) > 0]
    good = 0
    for run in named:
        causes = run.answers[TOOL].causes
        assert run.fault is not None
        good += len(causes) > 0 and causes[0] in run.fault.causes
    share(scores.cause_top(many), good, len(named))
    known = [run for run in broken if run.measured is not None]
    hits = sum(run.answers[TOOL].metric in run.measured.metrics for run in known if run.measured is not None)
    share(scores.first_metric(many), hits, len(known))


def twin_of_onsets(many: list[Assessed]):
    errors, close = [], 0
    for run in many:
        onset = run.answers[TOOL].onset
        if run.fault is not None and onset is not None:
            errors.append(abs(onset - run.start) / 100)
            close += abs(onset - run.start) <= max(3 * run.cadence, 5)
    share(scores.onset_close(many), close, len(errors))
    found = scores.onset_error(many)
    assert found.n == len(errors)
    if errors:
        middle = sorted(errors)
        half = len(middle) // 2
        expected = middle[half] if len(middle) % 2 else (middle[half - 1] + middle[half]) / 2
        assert math.isclose(found.value, expected, abs_tol=1e-12)


def twin_of_lead(many: list[Assessed]):
    n = timely = 0
    leads = []
    for run in many:
        if run.fault is None or run.loss is None or not run.loss.collapsed or run.loss.lost_at != run.loss.lost_at:
            continue
        n += 1
        allowed = {run.fault.link, *run.fault.also_right}
        first = [a for a in (run.live or ()) if a.at >= run.start and allowed & set(a.links)][:1]
        if first:
            leads.append((run.loss.lost_at - first[0].at) / 100)
            timely += first[0].at <= run.loss.lost_at
    share(scores.in_time(many), timely, n)
    found = scores.lead(many)
    assert found.n == len(leads)
    if leads:
        assert math.isclose(found.value, float(np.median(leads)), abs_tol=1e-12)


def twin_of_removed_and_variants(many: list[Assessed]):
    asked = [run for run in many if run.removed is not None]
    wrong = 0
    for run in asked:
        assert run.removed is not None
        assert run.fault is not None
        said = run.removed[1]
        first = said.links[0] if said.links else ""
        fine = (run.fault.link, *run.fault.also_right)
        if said.verdict == "healthy":
            wrong += any(link in said.claimed for link in fine)
        elif said.verdict == "broken":
            wrong += first not in fine and not any(link in said.rivals for link in fine)
    share(scores.removed_wrong(many), wrong, len(asked))
    varied = [run for run in many if "renamed" in run.variants]
    same = sum(
        run.variants["renamed"].verdict == run.answers[TOOL].verdict
        and run.variants["renamed"].links[:1] == run.answers[TOOL].links[:1]
        for run in varied
    )
    share(scores.stability_variant(many, "renamed"), same, len(varied))


def twin_of_stability_over_seeds(many: list[Assessed]):
    agree, pairs = 0, 0
    for i, a in enumerate(many):
        for b in many[:i]:
            if a.fault is None or b.fault is None:
                continue
            if (a.fault.id, a.subject, a.task, a.mid_run) == (b.fault.id, b.subject, b.task, b.mid_run):
                pairs += 1
                agree += a.answers[TOOL].links[:1] == b.answers[TOOL].links[:1]
    found = scores.stability_seeds(many)
    assert found.n == pairs
    if pairs:
        assert math.isclose(found.value, agree / pairs)


def twin_of_what_is_called_broken(many: list[Assessed]):
    called = right = well = wrongly = 0
    for run in many:
        said = run.answers[TOOL]
        well += run.fault is None
        if said.verdict != "broken":
            continue
        called += 1
        if run.fault is None:
            wrongly += 1
        elif said.links and said.links[0] in (run.fault.link, *run.fault.also_right):
            right += 1
    share(scores.right_when_broken(many, TOOL), right, called)
    share(scores.broken_without_fault(many, TOOL), wrongly, well)


def twin_of_confusion_counts_every_run_once(many: list[Assessed]):
    assert sum(scores.confusion(many).values()) == len(many)


TWINS = [check for name, check in list(globals().items()) if name.startswith("twin_of_")]


@given(runs)
@settings(max_examples=15, deadline=None)
def test_every_score_is_that_of_its_slow_twin(many: list[Assessed]):
    for check in TWINS:
        check(many)


def test_there_is_a_twin_for_every_score():
    assert len(TWINS) == 10


def fault_run(answer: Answer, fault: Fault | None = None) -> Assessed:
    return Assessed(
        id="r", subject="s", framework="sb3", algorithm="PPO", task="t", kind="fault" if fault else "healthy", seed=0,
        half="held", fault=fault, start=0.0, mid_run=False, end=10.0, cadence=1.0, answers={TOOL: answer},
    )  # fmt: skip


def test_a_fixed_answer_pays_for_its_alarms():
    critic = Fault("f", "critic")
    fixed = [fault_run(always("critic"), critic), fault_run(always("critic"))]
    assert scores.false_alarms(fixed, TOOL).value == 1
    assert scores.link_top(fixed, TOOL, 1).value == 1


def test_the_best_fixed_answer_is_right_most_often():
    right = [frozenset({"critic", "numerics"}), frozenset({"numerics"}), frozenset({"critic"}), frozenset({"numerics"})]
    assert best_fixed(right) == "numerics"
    assert best_fixed([]) == ""


def test_an_alarm_before_the_fault_does_not_detect_it():
    fault = Fault("f", "critic")
    answer = Answer("broken", (Alarm("a", ("critic",), 3.0),), ("critic",))
    run = Assessed(
        id="r", subject="s", framework="sb3", algorithm="PPO", task="t", kind="fault", seed=0, half="held",
        fault=fault, start=5.0, mid_run=True, end=10.0, cadence=1.0, answers={TOOL: answer},
    )  # fmt: skip
    assert scores.detection([run], TOOL).hits == 0
    assert scores.early_false_alarms([run], TOOL).hits == 1


def test_what_is_missed_is_counted_by_what_healthy_runs_show_of_it():
    fault = Fault("f", "critic")

    def run(alone: Answer, beside: Answer | None) -> Assessed:
        answers = {TOOL: alone} | ({BESIDE: beside} if beside is not None else {})
        return replace(fault_run(alone, fault), answers=answers)

    seen = Answer("undecided", (Alarm("a", ("critic",), 3.0),), ("critic",))
    else_ = Answer("undecided", (Alarm("b", ("numerics",), 3.0),), ("numerics",))
    runs = [run(HEALTHY, seen), run(else_, seen), run(HEALTHY, else_), run(HEALTHY, HEALTHY), run(seen, else_)]
    assert told.open_misses([*runs, run(HEALTHY, None)]) == [("f", 4, 2, 1, 1)]
    rows = {title: (alone, beside) for title, alone, beside in given_rows(runs)}
    assert [text.split("(")[1] for text in rows["an alarm at a right link"]] == ["1 of 5)", "2 of 5)"]
    assert [text.split("(")[1] for text in rows["link, first answer, fault from the start"]] == ["1 of 5)", "2 of 5)"]
    assert rows["healthy runs alarmed"] == ("–", "–")
    assert "| all | 4 | 2 | 1 | 1 |" in open_table(runs)
    assert open_table(runs[-1:]).endswith("None.\n\n")
