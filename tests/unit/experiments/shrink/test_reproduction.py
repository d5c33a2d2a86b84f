"""Whole searches: with chance, cut off and taken up again, with a control that does not reproduce."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.experiments.shrink import Budget, Reproduction, Tries, shrink
from firstbreak.experiments.shrink.numbers import Size

KEYS = tuple("abcdefghijklmnopqrst")
GOOD: dict[str, Any] = {"optimiser": dict.fromkeys(KEYS[:10], 0), "loss": dict.fromkeys(KEYS[10:], 0), "steps": 4096}
BAD: dict[str, Any] = {"optimiser": dict.fromkeys(KEYS[:10], 1), "loss": dict.fromkeys(KEYS[10:], 1), "steps": 4096}


def on(config: Mapping[str, Any]) -> set[str]:
    return {key for section in ("optimiser", "loss") for key, value in config[section].items() if value}


def needs(*keys: str, rate: float = 1.0, otherwise: float = 0.0) -> Callable[[Mapping[str, Any], int], bool]:
    """A symptom that shows at `rate` where all of these settings are on, else at another."""

    def shows(config: Mapping[str, Any], seed: int) -> bool:
        chance = np.random.default_rng([seed, *sorted(map(ord, on(config)))]).random()
        return bool(chance < (rate if set(keys) <= on(config) else otherwise))

    return shows


def names(found: Reproduction) -> set[str]:
    return {d.path[-1] for d in found.needed}


@settings(max_examples=25)
@given(st.sets(st.sampled_from(KEYS), min_size=1, max_size=4))
def test_without_chance_exactly_what_is_needed_is_left(keys: set[str]) -> None:
    found = shrink(BAD, GOOD, needs(*keys), chance=False)
    assert names(found) == keys
    assert found.minimal
    assert on(found.config) == keys
    assert len(found.needed) + len(found.given_up) == 20


def test_with_chance_it_is_right_nearly_always() -> None:
    """Twenty settings, two needed, shown by 85 % of the seeds, and by 5 % without them."""
    right = kept = 0
    for first in range(0, 50_000, 1000):
        try:
            found = shrink(BAD, GOOD, needs("c", "q", rate=0.85, otherwise=0.05), first_seed=first)
        except InputError:  # an unlucky pilot is no answer, never a wrong one
            continue
        right += names(found) == {"c", "q"}
        kept += {"c", "q"} <= names(found)
    assert kept >= 48, f"the two needed settings were kept in {kept} of 50"
    assert right >= 44, f"exactly the two in {right} of 50"


def test_a_search_cut_off_goes_on_where_it_was(tmp_path: Path) -> None:
    journal = tmp_path / "tries" / "journal.jsonl"
    made: list[tuple[str, int]] = []

    def shows(config: Mapping[str, Any], seed: int) -> bool:
        made.append((json.dumps(config, sort_keys=True), seed))
        return needs("c", "q")(config, seed)

    whole = shrink(BAD, GOOD, needs("c", "q"))
    found = shrink(BAD, GOOD, shows, budget=Budget(runs=15), journal=journal)
    assert not found.minimal
    assert found.again is None
    assert {"c", "q"} <= names(found), "what it has is still something that shows the symptom"
    while not found.minimal:
        found = shrink(BAD, GOOD, shows, budget=Budget(runs=15), journal=journal)
    assert found.recalled > 0
    assert (found.config, found.needed) == (whole.config, whole.needed)
    assert len(made) == len(set(made)) == whole.runs, "a run was made twice"


def test_a_torn_last_line_is_passed_over_and_other_files_are_refused(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    first = shrink(BAD, GOOD, needs("c"), journal=journal, chance=False)
    text = journal.read_text()
    journal.write_text(text[:-20])
    again = shrink(BAD, GOOD, needs("c"), journal=journal, chance=False)
    assert again.runs == 1
    assert again.needed == first.needed
    journal.write_text("steps,score\n1,2\n")
    with pytest.raises(InputError, match="line 1: this is no journal"):
        shrink(BAD, GOOD, needs("c"), journal=journal)


def test_a_journal_written_on_after_a_torn_line_can_still_be_read(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    shrink(BAD, GOOD, needs("c"), journal=journal, chance=False, budget=Budget(runs=4))
    journal.write_text(journal.read_text()[:-20])
    shrink(BAD, GOOD, needs("c"), journal=journal, chance=False)
    assert shrink(BAD, GOOD, needs("c"), journal=journal, chance=False).runs == 0


def test_a_control_that_does_not_reproduce_is_told_first() -> None:
    with pytest.raises(InputError, match=r"did not show the symptom in 4 runs: nothing was concluded"):
        shrink(BAD, GOOD, lambda config, seed: False)
    with pytest.raises(InputError, match=r"4 ended in another way"):
        shrink(BAD, GOOD, lambda config, seed: None)
    with pytest.raises(InputError, match="too close to tell apart"):
        shrink(BAD, GOOD, lambda config, seed: True)
    with pytest.raises(InputError, match="the same"):
        shrink(GOOD, GOOD, lambda config, seed: True)


def test_what_showed_by_chance_is_taken_back() -> None:
    """A selection that shows on the seeds of the tries, and never again."""

    def shows(config: Mapping[str, Any], seed: int) -> bool:
        here = on(config)
        return {"c", "q"} <= here or ("c" in here and seed < 1_000_000)

    found = shrink(BAD, GOOD, shows)
    assert {"c", "q"} <= names(found)
    assert not found.minimal
    assert any("by chance" in note for note in found.notes)


def test_runs_that_end_in_another_way_never_count_as_the_symptom() -> None:
    def shows(config: Mapping[str, Any], seed: int) -> bool | None:
        here = on(config)
        return None if "c" in here and "d" not in here else {"c", "q"} <= here

    found = shrink(BAD, GOOD, shows)
    assert names(found) == {"c", "d", "q"}


def test_sizes_shrink_as_far_as_the_symptom_shows() -> None:
    def shows(config: Mapping[str, Any], seed: int) -> bool:
        return "c" in on(config) and config["steps"] >= 300

    found = shrink(BAD, GOOD, shows, sizes=(Size("steps", multiple_of=8),))
    assert 300 <= found.config["steps"] <= 1.25 * 300 + 8
    assert found.config["steps"] % 8 == 0
    assert found.sizes == {"steps": (4096, found.config["steps"])}
    with pytest.raises(InputError, match="no_such is not a number"):
        shrink(BAD, GOOD, shows, sizes=(Size("no_such"),))


@given(st.integers(1, 4096))
def test_every_size_ends_within_the_promised_ratio(least: int) -> None:
    tries = Tries(lambda config, seed: config["n"] >= least, Budget())
    from firstbreak.experiments.shrink import Sequential, smallest

    config, _, _ = smallest({"n": 4096}, (Size("n"),), lambda c: tries.judge(c, Sequential(0, 1), 0).shows)
    assert least <= config["n"] <= max(1.25 * least, least + 1)
    assert tries.runs <= 30
