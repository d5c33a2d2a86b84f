"""The lists of faults, tasks and healthy runs hold together, and everything on them can be planted."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

from benchmarks.faults import plans, planting
from benchmarks.faults.catalogue import faults, halves_of, healthy, task_of, tasks
from firstbreak.causes import all_causes
from firstbreak.finding import Component, Link
from firstbreak.vocabulary import metrics


def test_every_fault_names_what_exists() -> None:
    links, components = {link.value for link in Link}, {part.value for part in Component}
    known_metrics = set(metrics())
    known = {cause.name for cause in all_causes()}
    for fault in faults().values():
        assert {fault.link, *fault.also_right} <= links, fault.id
        assert fault.component in components, fault.id
        assert fault.first_metric in known_metrics, (fault.id, fault.first_metric)
        assert fault.cause in known | {""}, (fault.id, fault.cause)
        assert bool(fault.also_right) == bool(fault.why_also), fault.id
        assert fault.link not in fault.also_right, fault.id
        assert set(fault.starts) <= {"start", "midway"}, fault.id


def test_the_lists_are_as_long_as_they_have_to_be() -> None:
    assert len(faults()) >= 80
    assert len(tasks()) >= 12
    runs = Counter[bool]()
    for one in healthy().values():
        runs[one.hard] += one.runs * len(one.tasks)
    assert sum(runs.values()) >= 300
    assert 0.4 <= runs[True] / sum(runs.values()) <= 0.6


def test_every_fault_can_be_planted_in_each_of_its_subjects() -> None:
    for fault in faults().values():
        for place in fault.subjects:
            subject = task_of(place).subject
            planting.load(planting.FAMILY[subject])
            assert planting.planted(fault.id, subject), (fault.id, subject)


def test_every_hard_negative_can_be_made() -> None:
    for one in healthy().values():
        for place in one.tasks if one.hard else ():
            subject = task_of(place).subject
            planting.load(planting.FAMILY[subject])
            assert planting.planted(one.id, subject), (one.id, subject)


def test_nothing_is_planted_that_is_on_no_list() -> None:
    for family in set(planting.FAMILY.values()):
        planting.load(family)
    listed = set(faults()) | set(healthy())
    registered = set(planting.WORLD) | {name for name, _ in [*planting.SETTINGS, *planting.TRAINER]}
    assert registered <= listed


def test_the_half_of_a_fault_follows_from_its_id_alone() -> None:
    for fault in faults().values():
        odd = int.from_bytes(sha256(fault.id.encode()).digest(), "big") & 1
        assert fault.half == ("held" if odd else "dev")
    counts = Counter(fault.half for fault in faults().values())
    assert min(counts.values()) >= 0.35 * len(faults())


def test_the_halves_of_tasks_do_not_depend_on_their_order_and_are_even() -> None:
    dealt = {key: task for key, task in tasks().items() if not (task.late or task.fresh)}
    keys = list(dealt)
    assert halves_of(keys) == halves_of(keys[::-1]) == {key: task.half for key, task in dealt.items()}
    for family in set(planting.FAMILY.values()):
        members = Counter(task.half for task in dealt.values() if planting.FAMILY[task.subject] == family)
        assert abs(members["dev"] - members["held"]) <= 1, family


def test_a_task_that_came_late_is_for_tuning_only() -> None:
    late = [task for task in tasks().values() if task.late]
    assert late
    assert {task.half for task in late} == {"dev"}


def test_a_fresh_task_is_in_no_half_and_holds_no_fault() -> None:
    fresh = {key for key, task in tasks().items() if task.fresh}
    assert fresh == {key for key, task in tasks().items() if task.half == "fresh"}
    assert not fresh & {task_of(place).key for fault in faults().values() for place in fault.subjects}
    assert fresh == {task_of(place).key for one in healthy().values() for place in one.tasks} & fresh


def test_plans_are_the_same_every_time_and_no_id_is_used_twice() -> None:
    def all_of_them() -> list[plans.Plan]:
        places = [(fault, place) for fault in faults().values() for place in fault.subjects]
        gated = [plan for at in places for plan in (*plans.gate(*at), *plans.gate_midway(*at))]
        return [*plans.twins(), *gated, *plans.healthy_plans()]

    first, second = all_of_them(), all_of_them()
    assert first == second
    assert len({plan.id for plan in first}) == len(first)
    assert {plan.id for plan in plans.screening()} <= {plan.id for plan in first}


def test_a_fault_has_one_kind_of_start_at_a_place_and_takes_them_in_turn() -> None:
    for fault in faults().values():
        kinds = [plans.kind_of_start(fault, place) for place in fault.subjects]
        told = [kinds.count(kind) for kind in fault.starts]
        assert max(told) - min(told) <= 1
        assert sum(told) == len(kinds)
        for place, kind in zip(fault.subjects, kinds, strict=True):
            starts = [plan.start_frac for plan in plans.gate(fault, place)]
            assert len(starts) == plans.GATE_SEEDS
            for start in starts:
                assert start is not None
                assert start == 0.0 if kind == "start" else plans.EARLIEST <= start <= plans.LATEST


def test_what_is_there_from_the_start_is_switched_on_midway_as_well_where_it_can_be() -> None:
    for fault in faults().values():
        for place in fault.subjects:
            as_well, usual = list(plans.gate_midway(fault, place)), list(plans.gate(fault, place))
            both = plans.kind_of_start(fault, place) == "start" and len(fault.starts) == 2
            assert len(as_well) == (plans.GATE_SEEDS if both else 0)
            assert not {plan.id for plan in as_well} & {plan.id for plan in usual}
            for plan in as_well:
                assert plan.start_frac is not None
                assert plans.EARLIEST <= plan.start_frac <= plans.LATEST
    screened = [plan for plan in plans.screening() if plan.seed >= plans.MIDWAY_TOO]
    assert screened
    assert all(plan.start_frac for plan in screened)


def test_half_of_the_runs_start_their_fault_midway() -> None:
    kinds = Counter(
        plans.kind_of_start(fault, place)
        for fault in faults().values()
        if len(fault.starts) == 2
        for place in fault.subjects
    )
    assert abs(kinds["start"] - kinds["midway"]) <= 0.1 * kinds.total()
