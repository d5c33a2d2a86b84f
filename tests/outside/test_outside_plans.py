"""The lists of ordinary logs: complete, told apart, right links that exist, instants that a hash draws."""

from __future__ import annotations

from benchmarks.faults.scoring.catalogue import LINKS
from benchmarks.outside.plans import EARLIEST, LATEST, SEEDS, bases, faults, healthy, instant, plans


def test_there_are_as_many_kinds_as_were_asked_for() -> None:
    assert len(faults()) >= 24
    assert len(healthy()) >= 16
    ids = [plan.id for plan in plans()]
    assert len(ids) == len(set(ids))


def test_every_kind_names_trainers_that_exist_and_links_that_exist() -> None:
    for one in (*faults().values(), *healthy().values()):
        assert set(one.bases) <= set(bases()), one.id
    for fault in faults().values():
        assert {fault.link, *fault.also_right} <= LINKS, fault.id
        assert bool(fault.also_right) == bool(fault.why_also), fault.id
        assert fault.planted or fault.settings, fault.id


def test_seeds_of_plain_runs_are_their_own() -> None:
    assert not set(healthy()["plain"].seeds) & set(SEEDS)
    assert set(healthy()["plain"].bases) == set(bases())


def test_what_comes_in_mid_run_comes_at_an_instant_that_is_drawn_once() -> None:
    late = [plan for plan in plans() if plan.at]
    assert len(late) > 40
    for plan in late:
        assert EARLIEST <= plan.at / plan.base.total <= LATEST
        assert plan.at == instant(plan.base, plan.name, plan.seed)
    assert len({plan.at / plan.base.total for plan in late}) > len(late) / 2


def test_a_fault_that_starts_with_the_run_has_no_instant() -> None:
    for plan in plans():
        if plan.fault and plan.fault.starts == ("start",):
            assert plan.at == 0
