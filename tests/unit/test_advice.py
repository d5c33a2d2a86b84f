"""The looks that an undecided run calls for leave few links open, and ask nothing twice."""

from __future__ import annotations

from dataclasses import replace

from firstbreak import synth
from firstbreak.advice import ADAPTERS, BESIDE, LOOP, PAY, SHOWS, WORLD, asked_of, beside, confirmations_for
from firstbreak.check import checks_of
from firstbreak.diagnosis import Coverage, Skipped
from firstbreak.finding import Link
from firstbreak.reasoning import made_by
from firstbreak.runlog import RunLog

ONLY_OURS = Skipped("X", "rule", "not logged", ("env/dynamics_surprise",), link=Link.ENVIRONMENT_DATA)


def coverage(*signs: str, skipped: tuple[Skipped, ...] = (ONLY_OURS,)) -> Coverage:
    return Coverage({}, 10, 20, skipped, profile_missing=signs, withheld=signs)


def ppo(framework: str = "") -> RunLog:
    return replace(synth.like("PPO")(), framework=framework)


def names(log: RunLog, seen: Coverage, asked: tuple[Link, ...] = ()) -> list[str]:
    return [look.experiment for look in confirmations_for(log, seen, asked)]


def test_three_looks_speak_of_most_links() -> None:
    first = names(ppo(), coverage())[:3]
    assert first == [LOOP.experiment, WORLD.experiment, BESIDE]


def test_a_fall_is_parted_by_a_checkpoint_and_watched_before_the_code_is_checked() -> None:
    first = names(ppo(), coverage("the return ends far below its best"))[:3]
    assert first == ["checkpoint from before", BESIDE, LOOP.experiment]


def test_a_link_that_is_asked_for_already_comes_last() -> None:
    asked = names(ppo(), coverage(), (Link.ENVIRONMENT_DATA,))
    assert asked.index(WORLD.experiment) > asked.index(PAY.experiment) > asked.index(LOOP.experiment)


def test_each_family_is_about_the_links_that_are_said_of_it() -> None:
    for look, links in SHOWS:
        assert look.command is not None
        family = {"env": "environment"}.get(word := look.command.split()[2], word)
        found = [check.link for check in checks_of(family)]
        assert set(links) == {link for link in Link if found.count(link) >= len(found) / 10}


def test_the_monitor_is_named_by_the_framework_and_not_to_its_own_log() -> None:
    for framework, how in ADAPTERS.items():
        look = beside(ppo(framework), coverage())
        assert look is not None
        assert look.recipe.startswith(how)
    measured = synth.like("PPO")({"env/dynamics_surprise": synth.flat(1.0, 0.1)})
    assert beside(measured, coverage()) is None
    assert beside(ppo(), coverage(skipped=())) is None


def test_what_is_logged_in_another_form_or_no_policy_has_is_not_asked_for() -> None:
    wants = [
        Skipped("A", "a", "not logged", (metric,), link=Link.EXPLORATION)
        for metric in ("reward/episode_return_mean", "policy/entropy", "seq/len_mean", "optim/grad_norm")
    ]
    log = synth.run({"reward/episode_return": synth.ramp(0, 1)}, algorithm="DQN")
    assert asked_of(log, coverage(skipped=tuple(wants))).names == ("optim/grad_norm",)


def test_two_looks_of_one_command_are_one() -> None:
    assert made_by(replace(LOOP, experiment="overfit one batch"), [LOOP])
    assert not made_by(replace(LOOP, command=None), [replace(LOOP, command=None)])
