"""What plants the faults of earlier lists serves the eleventh list's trainers."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import eleventh_language
import eleventh_reference
import eleventh_sb3
import tenth_language
import tenth_reference
import tenth_sb3

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # TorchRL's collectors inherit from what it calls deprecated
    import eleventh_torchrl
    import ninth_torchrl
    import tenth_torchrl
from eleventh import ELEVENTH
from eleventh_draw import CONTINUOUS, COPIES, SCALED, SUBJECTS
from eleventh_stand_in import standing_in
from tenth_origins import list_of
from tenth_worlds import in_the_world
from third_reference import Planting
from worlds import Truth

pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries
TASKS = {"ferry": "Ferry", "locks": "Locks", "cartpole": "CartPole", "reacher": "Reacher"}
OF_ACTIONS_IN_A_BOX = ("Locks", "Reacher")


def task_of(subject: str) -> str:
    return TASKS[subject.rpartition("_")[2]]


def test_subjects_are_those_of_the_draw_and_are_as_it_says() -> None:
    tables = eleventh_sb3.SUBJECTS, eleventh_reference.SUBJECTS, eleventh_torchrl.SUBJECTS
    rows = {name: row for table in tables for name, row in table.items()}
    scaled = {name: next(value for value in row if isinstance(value, bool)) for name, row in rows.items()}
    assert {*rows, eleventh_language.SUBJECT} == set(SUBJECTS)
    assert {name for name, is_so in scaled.items() if is_so} == set(SCALED)
    for name, row in rows.items():
        assert task_of(name) in row
        assert (name in CONTINUOUS) == (task_of(name) in OF_ACTIONS_IN_A_BOX)
    copies = {name for name, row in eleventh_sb3.SUBJECTS.items() if row[4] > 1}
    copies |= {name for name, row in eleventh_reference.SUBJECTS.items() if row[1].num_envs > 1}
    assert copies == set(COPIES)


def switched(subject: str, fault: str) -> Any:
    """Return the switch of a Stable-Baselines3 trainer in which `fault` is on."""
    torch.set_num_threads(1)
    truth = Truth()
    with standing_in(tenth_sb3, SUBJECTS=eleventh_sb3.SUBJECTS):
        model = tenth_sb3.built(subject, fault, 0, None, truth)
        switch = tenth_sb3.Switch(subject, truth, fault, 0.5)
    switch.init_callback(model)
    switch.num_timesteps = math.ceil(switch.at)
    switch._on_step()
    assert truth.began == switch.num_timesteps
    return switch


def planted(subject: str, fault: str) -> tuple[Any, Truth]:
    """Return a reference trainer in which `fault` is on, and its truth."""
    torch.set_num_threads(1)
    truth = Truth()
    with standing_in(tenth_reference, SUBJECTS=eleventh_reference.SUBJECTS):
        trainer = tenth_reference.built(subject, fault, 0, None, truth)
        truth.began = 0.0
        kept = {name: net.state_dict() for name, net in tenth_reference.third_reference.networks(trainer).items()}
        tenth_reference.begin(Planting(trainer, 0.0, trainer.total, kept), subject, fault, truth)
    return trainer, truth


def begun(subject: str, fault: str) -> Any:
    """Return the switch of a TorchRL trainer in which `fault` is on."""
    torch.set_num_threads(1)
    with (
        standing_in(tenth_torchrl, SUBJECTS=eleventh_torchrl.SUBJECTS),
        standing_in(ninth_torchrl, SIZES=eleventh_torchrl.SIZES),
    ):
        switch = tenth_torchrl.Switch(subject, Truth(), fault, 0.5)
        tenth_torchrl.built(subject, fault, 0, None, switch.truth, switch)
        switch.trainer.collected_frames = math.ceil(switch.at)
        switch.look()
    assert switch.truth.began == switch.trainer.collected_frames
    return switch


OF_TRAINERS = [
    pytest.param(s, f["id"], marks=[pytest.mark.full] if "reacher" in s else [])  # MuJoCo
    for f in ELEVENTH.faults().values()
    for s in f["subjects"]
    if not in_the_world(f["id"]) and not s.startswith("grpo")
]


@pytest.mark.parametrize(("subject", "fault"), OF_TRAINERS)
def test_every_fault_of_a_trainer_is_planted_by_its_lists_code(subject: str, fault: str) -> None:
    if subject.startswith("sb3"):
        assert switched(subject, fault).fault == fault
    elif subject.startswith("torchrl"):
        assert begun(subject, fault).fault == fault
    else:
        trainer, _ = planted(subject, fault)
        assert trainer.total == eleventh_reference.SUBJECTS[subject][5]


def test_a_switch_is_on_at_its_share_of_its_own_run_and_the_tenths_subjects_are_back() -> None:
    assert switched("sb3_a2c_locks", "entropy-bonus").model.ent_coef == 10.0
    assert "sb3_a2c_locks" not in tenth_sb3.SUBJECTS
    assert begun("torchrl_ppo_cartpole", "reward-nan").truth.fault == "reward-nan"
    assert ninth_torchrl.SIZES == (64, 64)
    algorithm, settings = eleventh_reference.settings_of("mmrkhs_ferry")
    assert (algorithm, settings["gamma"]) == ("MM-RKHS", 0.96)
    assert eleventh_torchrl.settings_of("torchrl_sac_locks")["gamma"] == 0.9


def test_the_question_is_the_second_letter_after_five_times(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [eleventh_language.wanted(letter) for letter in "agh"] == list("cab")
    assert eleventh_language.right("a>", "ccccc") == 1.0
    assert eleventh_language.right("a>", "cccccccc") == 5 / 8
    asked = list[Any]()
    monkeypatch.setattr(
        tenth_language, "train", lambda *given: asked.extend([given, tenth_language.right, tenth_language.UPDATES])
    )
    theirs = tenth_language.right
    eleventh_language.train("ids-shifted", 3, 0.5, None, Truth())
    assert asked[0][:3] == ("ids-shifted", 3, 0.5)
    assert asked[1:] == [eleventh_language.right, eleventh_language.UPDATES]
    assert tenth_language.right is theirs


def test_grpos_faults_have_code_of_their_lists() -> None:
    for fault in (f["id"] for f in ELEVENTH.faults().values() if "grpo_skip" in f["subjects"]):
        origin = list_of(fault)
        module: Any = tenth_language.first_list("language") if origin == "faults" else tenth_language.MODULES[origin]
        source = Path(module.__file__).read_text("utf-8")
        assert f'"{fault}"' in source or SimpleNamespace(**vars(module)).PLANTS.get(fault), fault


@pytest.mark.full  # TRL
@pytest.mark.parametrize("fault", [f["id"] for f in ELEVENTH.faults().values() if "grpo_skip" in f["subjects"]])
def test_grpo_goes_on_with_each_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eleventh_language, "UPDATES", 4)
    truth = Truth()
    eleventh_language.train(fault, 0, 0.5, None, truth)
    assert (truth.began, truth.fault) == (2.0, fault)
    assert truth.steps == 4
