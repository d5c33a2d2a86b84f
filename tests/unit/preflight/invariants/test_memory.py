"""Hidden states that are reset where an episode begins, elsewhere, or nowhere."""

from __future__ import annotations

import pytest

from firstbreak.check import Look, find_check, look_at
from firstbreak.finding import Severity
from firstbreak.preflight.invariants.bench import Bench

from .recurrent_ppo import remembering
from .small_trainers import SmallPPO


def put(way: str, *, shown: bool = True) -> Look:
    return look_at(find_check("memory-crosses-episodes"), Bench(remembering(way, shown=shown)()))


@pytest.mark.parametrize("way", ["never", "one_step_late"])
def test_memory_that_is_kept_over_the_end_is_an_error(way: str) -> None:
    found = put(way).symptom
    assert found is not None
    assert found.severity is None
    assert "before an episode's end" in found.message


@pytest.mark.parametrize("way", ["always", "all_at_once"])
def test_memory_that_is_lost_within_an_episode_is_a_warning(way: str) -> None:
    found = put(way).symptom
    assert found is not None
    assert found.severity is Severity.WARNING
    assert "not carried" in found.message


def test_a_recurrent_policy_that_does_not_show_it_is_asked_to() -> None:
    found = put("never", shown=False)
    assert found.symptom is None
    assert found.skip is not None
    assert found.skip.unlock_with == ("pieces.sequence",)


def test_a_policy_without_memory_is_not_concerned() -> None:
    found = look_at(find_check("memory-crosses-episodes"), Bench(SmallPPO().pieces()))
    assert found.skip is not None
    assert not found.skip.unlock_with
