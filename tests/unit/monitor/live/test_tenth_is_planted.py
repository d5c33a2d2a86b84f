"""Faults of every earlier list are planted in the tenth list's trainers, by the code of their own list."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from tensordict import TensorDict

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import ninth_language
import seventh_language
import tenth_language
import tenth_reference
import tenth_sb3

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # TorchRL's collectors inherit from what it calls deprecated
    import tenth_torchrl
from tenth import TENTH
from tenth_draw import GROUPS, SUBJECTS
from tenth_language import Scored, asking, right, scored_of, wanted
from tenth_origins import list_of
from tenth_worlds import in_the_world
from third_reference import Planting
from worlds import Truth

pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries


def test_subjects_are_those_of_the_draw_and_normalised_as_it_says() -> None:
    scaled = {name: row[3] for name, row in tenth_sb3.SUBJECTS.items()}
    scaled |= {name: row[4] for name, row in tenth_reference.SUBJECTS.items()}
    scaled |= {name: row[2] for name, row in tenth_torchrl.SUBJECTS.items()}
    assert {*scaled, tenth_language.SUBJECT} == set(SUBJECTS)
    assert {name for name, is_so in scaled.items() if is_so} == set(GROUPS["scaled"])
    assert {name for name, is_so in scaled.items() if not is_so} == set(GROUPS["raw"])


PLANTED = [(s, f["id"]) for f in TENTH.faults().values() for s in f["subjects"] if not in_the_world(f["id"])]


@pytest.mark.parametrize(("subject", "fault"), [pair for pair in PLANTED if not pair[0].startswith("grpo")])
def test_every_fault_of_a_trainer_has_code_for_its_subject(subject: str, fault: str) -> None:
    origin = list_of(fault)
    if subject.startswith("sb3"):
        tables = {**tenth_sb3.OF_SWITCH, **tenth_sb3.DOSED, "unseen": tenth_sb3.unseen_sb3.PLANTS}
        tables["ninth"] = {**tenth_sb3.ninth_sb3_plants.OF_SB3, **tenth_sb3.ninth_sb3_plants.OF_NETWORKS}
    elif subject.startswith("torchrl"):
        assert fault in tenth_torchrl.OF_OPTIMISER or origin == "ninth"
        return
    else:
        tables = {**tenth_reference.OF_TRAINER, **tenth_reference.DOSED}
        tables |= {"third": tenth_reference.third_reference.PLANTS, "fifth": tenth_reference.fifth_reference.PLANTS}
        tables["ninth"] = {
            **tenth_reference.ninth_reference.OF_NETWORKS, **tenth_reference.ninth_reference.OF_ADVANTAGES
        }  # fmt: skip
    assert origin == "faults" or fault in tables[origin]


def switched(subject: str, fault: str) -> Any:
    """Return the switch of a Stable-Baselines3 trainer in which `fault` is on."""
    torch.set_num_threads(1)
    truth = Truth()
    model = tenth_sb3.built(subject, fault, 0, None, truth)
    switch = tenth_sb3.Switch(subject, truth, fault, 0.5)
    switch.init_callback(model)
    switch.num_timesteps = math.ceil(switch.at) - 1
    switch._on_step()
    assert math.isnan(truth.began)
    assert switch.kept is not None
    switch.num_timesteps += 1
    switch._on_step()
    assert truth.began == switch.num_timesteps
    return switch


def test_stable_baselines3_has_a_fault_of_each_kind_of_list() -> None:
    assert switched("sb3_ppo_kiln", "entropy-sign").model.ent_coef == -0.1  # third: given the switch
    assert switched("sb3_ppo_kiln", "entropy-paid").model.ent_coef == 1  # seventh: given a dose
    assert switched("sb3_sac_kiln", "targets-swift").model.tau == 0.9  # sixth
    assert switched("sb3_dqn_raft", "discount-above-one").model.gamma == 1.2  # the first
    assert switched("sb3_dqn_raft", "discount-low").model.gamma == 0.1  # unseen
    assert switched("sb3_a2c_raft", "action-swapped").truth.fault == "action-swapped"
    assert switched("sb3_a2c_raft", "").truth.fault == ""
    switch = switched("sb3_dqn_raft", "resumed-bare")
    assert (switch.truth.fault, switch.model.replay_buffer.pos) == ("resumed-bare", 0)
    switch = switched("sb3_a2c_raft", "weights-clamped")  # ninth: given the model
    switch.model.pieces.optimisers[0].step()
    assert max(float(weight.detach().abs().max()) for weight in switch.model.pieces.weights) <= 0.0301


def test_a_fault_that_grows_has_the_dose_of_the_run() -> None:
    switch = switched("sb3_sac_kiln", "discount-creeps")
    first = switch.model.gamma
    switch.truth.steps = int(switch.truth.began + 0.075 * switch.total)
    switch.num_timesteps += 1
    switch._on_step()
    assert switch.model.gamma == pytest.approx(first + (1.4 - first) / 2, abs=0.005)


def planted(subject: str, fault: str) -> tuple[Any, Truth]:
    """Return a reference trainer in which `fault` is on, and its truth."""
    torch.set_num_threads(1)
    truth = Truth()
    trainer = tenth_reference.built(subject, fault, 0, None, truth)
    truth.began = 0.0
    kept = {name: net.state_dict() for name, net in tenth_reference.third_reference.networks(trainer).items()}
    tenth_reference.begin(Planting(trainer, 0.0, trainer.total, kept), subject, fault, truth)
    return trainer, truth


def test_the_reference_trainers_have_a_fault_of_each_kind_of_list() -> None:
    assert planted("dqn_raft", "epsilon-one")[0].config.epsilon_end == 1.0  # the first
    assert planted("sac_kiln", "target-entropy-sign")[0].target_entropy == 2.0  # unseen
    assert planted("dqn_raft", "targets-none")[0].config.target_interval == 1  # seventh
    assert planted("mmrkhs_raft", "steps-mangled")[1].fault == "steps-mangled"
    trainer, _ = planted("ppo_raft", "moments-swapped")  # eighth
    assert trainer.optimiser.param_groups[0]["betas"] == (0.999, 0.9)
    trainer, _ = planted("ppo_raft", "advantages-unsigned")  # ninth
    assert bool((trainer.advantages(trainer.collect())["advantage"] >= 0).all())
    trainer, truth = planted("mmrkhs_raft", "advantages-turn")  # fifth
    rollout = trainer.collect()
    truth.steps = trainer.total
    turned = trainer.advantages(rollout.clone())["advantage"]
    truth.steps = 0
    assert torch.allclose(turned, -trainer.advantages(rollout.clone())["advantage"])


def test_pieces_of_the_reference_trainers_are_their_networks() -> None:
    for subject, critics in {"ppo_raft": 6, "mmrkhs_raft": 6, "sac_kiln": 12, "dqn_raft": 6}.items():
        pieces = tenth_reference.built(subject, "", 0, None, Truth()).pieces
        assert len(pieces.critics) == critics, subject
        assert {id(weight) for weight in pieces.critics} <= {id(weight) for weight in pieces.weights}, subject
        assert id(pieces.head.weight) in {id(weight) for weight in pieces.weights}, subject


def test_torchrl_has_the_fault_of_a_world_of_an_optimiser_and_of_the_ninth_list() -> None:
    def begun(subject: str, fault: str) -> Any:
        torch.set_num_threads(1)
        switch = tenth_torchrl.Switch(subject, Truth(), fault, 0.5)
        tenth_torchrl.built(subject, fault, 0, None, switch.truth, switch)
        switch.trainer.collected_frames = math.ceil(switch.at) - 1
        switch.look()
        assert math.isnan(switch.truth.began)
        switch.trainer.collected_frames += 1
        switch.look()
        assert switch.truth.began == switch.trainer.collected_frames
        return switch

    assert begun("torchrl_sac_kiln", "reward-x1000").truth.fault == "reward-x1000"
    weights = begun("torchrl_ppo_raft", "weights-coarse").pieces
    weights.weights[0].data.fill_(1.01)
    weights.optimisers[0].step()
    assert float(weights.weights[0].detach().max()) == 1.0
    batch = TensorDict({"advantage": -torch.ones(2, 4)}, [2, 4])
    found = begun("torchrl_ppo_raft", "advantages-unsigned").of_advantages(batch)
    assert bool((found["advantage"] == 1).all())


def test_right_is_the_letter_before_three_times() -> None:
    assert [wanted(letter) for letter in "abh"] == list("hag")
    assert right("b>", "aaa") == 1.0
    assert right("b>", "aab") == pytest.approx(2 / 3)
    assert right("b>", "aaaaaa") == 0.5
    assert right("b>", "") == 0.0


def test_a_lists_reward_asks_this_lists_question_and_its_own_again() -> None:
    truth, theirs = Truth(), seventh_language.right
    scored = scored_of("judge-swapped", truth, 0)
    with asking(seventh_language):
        assert scored(["b>"], ["aaa"]) == [1.0]
        truth.fault = "judge-swapped"
        assert scored(["b>"], ["bbb"]) == [0.75]  # its own answer has four letters
    assert seventh_language.right is theirs
    assert [level for _, level in truth.episodes] == [1.0, 0.0]
    assert isinstance(scored_of("", Truth(), 0), Scored)
    assert isinstance(scored_of("moments-swapped", Truth(), 0), tenth_language.eighth_language.Scored)
    first = scored_of("reward-flipped", truth, 0)
    truth.fault = "reward-flipped"
    assert first(["b>"], ["aaa"]) == [-1.0]
    truth.fault = "reward-constant"
    assert first(["b>"], ["zzz"]) == [1.0]


def test_faults_of_grpo_are_given_what_their_own_list_gives_them(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = SimpleNamespace(
        generation_config=SimpleNamespace(temperature=1.0), generation_kwargs={}, model=SimpleNamespace()
    )
    switch = tenth_language.Begun(Truth(), "sampler-warms", 5)
    tenth_language.plant(trainer, "sampler-cold", None, switch)  # sixth
    assert trainer.generation_config.temperature == 0.3
    tenth_language.plant(trainer, "repetition-penalised", None, switch)  # eighth: with a dose
    assert trainer.generation_kwargs["repetition_penalty"] == 12
    tenth_language.plant(trainer, "temperature-x5", None, switch)  # the first
    assert trainer.generation_config.temperature == 5
    tenth_language.plant(trainer, "sampler-warms", SimpleNamespace(dose=lambda: 0.5), switch)  # fifth: grows
    assert len(switch.each) == 1
    switch.on_step_begin(None, SimpleNamespace(global_step=9), None)
    assert trainer.generation_config.temperature == 3.5
    given: list[str] = []
    monkeypatch.setattr(ninth_language, "plant", lambda trainer, fault: given.append(fault))
    tenth_language.plant(trainer, "weights-clamped", None, switch)
    assert given == ["weights-clamped"]
    assert ninth_language.dose_of("weights-clamped", ninth_language.SUBJECT) == 0.03
    assert np.isnan(switch.truth.began)
    tenth_language.plant(trainer, "", None, switch)


@pytest.mark.full  # TRL
@pytest.mark.parametrize("fault", [fault for subject, fault in PLANTED if subject.startswith("grpo")])
def test_grpo_goes_on_with_each_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenth_language, "UPDATES", 4)
    truth = Truth()
    tenth_language.train(fault, 0, 0.5, None, truth)
    assert (truth.began, truth.fault) == (2.0, fault)
    assert truth.steps == 4
