"""Every experiment that a cause names is made by the catalogue, by a command, or by hand with a reason."""

from __future__ import annotations

from firstbreak.causes import all_causes
from firstbreak.diagnosis import Confirmation
from firstbreak.experiments.control.knobs import NAMES
from firstbreak.experiments.experiment import names
from firstbreak.experiments.result import Outcome
from firstbreak.experiments.settle.commands import command_for, template_of
from firstbreak.experiments.settle.ties import ALSO, BY_HAND, TIES, tied_causes, ties_of

NAMED: dict[str, list[str | None]] = {}
for one in all_causes():
    for asked in one.experiments:
        NAMED.setdefault(asked.name, []).append(asked.command)


def test_every_name_in_the_causes_is_accounted_for() -> None:
    lost = [name for name, commands in NAMED.items() if name not in {**TIES, **BY_HAND} and not all(commands)]
    assert not lost, f"tie these to the catalogue, or say why they are made by hand: {lost}"


def test_no_entry_is_left_over() -> None:
    assert not [name for name in {**TIES, **BY_HAND} if name not in NAMED]
    assert not set(TIES) & set(BY_HAND)
    assert not [name for name in BY_HAND if all(NAMED[name])], "a command makes these already"
    assert all(len(reason) > 15 for reason in BY_HAND.values())
    assert set(ALSO) <= {c.name for c in all_causes()}


def test_every_tie_leads_to_an_experiment_of_the_catalogue() -> None:
    tied = {t.label: t for t in (*TIES.values(), *(t for ties in ALSO.values() for t in ties))}
    assert {t.experiment for t in tied.values()} <= set(names())
    for label in tied:
        assert tied_causes(label), f"{label} speaks to no cause"


def test_two_settings_are_two_experiments() -> None:
    bonus, discount = TIES["bonus off"], TIES["usual discount"]
    assert bonus.experiment == discount.experiment == "one-setting"
    assert bonus.label == "one-setting setting=entropy_coefficient value=0"
    assert set(tied_causes(bonus.label)) == {"no-commitment"}
    assert set(tied_causes(discount.label)) == {"horizon-too-short"}
    assert all(dict(t.given)["setting"] in NAMES for t in TIES.values() if t.given), "a setting by its meaning"


def test_a_look_that_the_catalogue_makes_has_a_command() -> None:
    for name in TIES:
        command = template_of(name)
        assert command is not None
        assert command.startswith(f"firstbreak experiment {TIES[name].experiment}")
    assert "--with setting=discount --with value=0.99" in (template_of("usual discount") or "")
    assert template_of("phase trace") is None
    own = Confirmation("critic only", "Fit it.", "firstbreak preflight invariants TRAINER")
    assert command_for(own) == own.command
    assert (command_for(Confirmation("longer cap", "Generate.")) or "").startswith("firstbreak experiment longer-cap")


def test_a_cause_and_its_rival_may_want_opposite_verdicts() -> None:
    wanted = {name: tie.supports for name, tie in tied_causes("group-size-x4").items()}
    assert wanted == {"silent-groups": Outcome.CONFIRMED, "task-too-hard": Outcome.REFUTED}
    assert [t.experiment for t in ties_of("task-too-hard")] == ["group-size-x4", "train-on-test"]
    assert ties_of("no-such-cause") == ()
