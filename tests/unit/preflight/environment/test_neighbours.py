"""Two instances of one environment, copies in pairs, and limits counted twice: what fires, and what is only near."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak.check import Answer, Symptom, find_check
from firstbreak.finding import Skip
from firstbreak.preflight.environment.swallowed import foreign
from tests.preflight.unseen.catalogue import MAKERS, ORIGINALS, load
from tests.unit.preflight.environment.small_worlds import Drive
from tests.unit.preflight.environment.test_contract_checks import look, world_of

load()


class SharedTable(Drive):
    """What instances share is only read."""

    TABLE = np.linspace(0.0, 1.0, 5)

    def step(self, action: object) -> object:
        obs, reward, *rest = super().step(action)
        return obs, float(reward) + float(self.TABLE[2]), *rest


FIRES = [
    ("instances-share-state", "bug_state_in_class_attribute", "second instance"),
    ("copies-identical", "bug_vector_copies_in_pairs", "8 copies are 4 different ones"),
    ("time-limit-not-kept", "bug_steps_counted_twice", "cut at 50 steps"),
]


@pytest.mark.parametrize(("check", "name", "words"), FIRES)
def test_it_fires_and_not_on_the_original(check: str, name: str, words: str) -> None:
    answer = look(check, MAKERS[name])
    assert isinstance(answer, Symptom), answer
    assert words in answer.message
    assert not isinstance(look(check, ORIGINALS[name]), Symptom)


def test_what_is_only_read_may_be_shared() -> None:
    answer: Answer = look("instances-share-state", SharedTable)
    assert answer is None


def test_an_environment_that_does_not_repeat_itself_is_not_judged() -> None:
    assert isinstance(look("instances-share-state", MAKERS["bug_dt_from_clock"]), Skip)


def test_a_shorter_limit_that_is_no_whole_part_is_left_alone() -> None:
    world = world_of(ORIGINALS["bug_steps_counted_twice"])
    world.time_limit = 170
    assert find_check("time-limit-not-kept").look(world) is None


def test_installed_files_are_foreign_wherever_they_lie() -> None:
    assert foreign("/elsewhere/lib/python3/site-packages/numpy/core.py")
    assert not foreign("/home/me/project/env.py")
