"""The tool-using agent: a world with state, success by state, whose tokens are learned, and the samples it leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.audit.reading.api import read_samples
from firstbreak.trainers.language.model import TinyLM
from firstbreak.trainers.language.sampling import collate
from firstbreak.trainers.language.symbols import EOS, decode, encode
from firstbreak.trainers.language.tasks import dice
from firstbreak.trainers.language.tool_agent import ToolAgent, ToolAgentConfig, tool_measures
from firstbreak.trainers.language.tool_samples import as_sample, record_jsonl
from firstbreak.trainers.language.tool_world import KINDS, Episode, Errand, answer_call, begin, errands, expert
from firstbreak.trainers.language.warm_start import imitate

from .subjects import check_names, without_clocks

STORE = tuple(zip("abcdef", "420713", strict=True))
SMALL = ToolAgentConfig(prompts_per_update=3, num_generations=4, eval_every=0, kinds=("set", "get"))


def played(kind: str, keys: str, digit: str, *parts: str, ended: bool = True) -> Episode:
    """An episode in which the agent writes these parts, a tool answering each call."""
    episode = begin(Errand(kind, keys, digit, STORE), 0)
    for part in parts:
        episode.row.append(encode(part), own=True, log_prob=-0.5, version=2)
        if part.endswith("]"):
            answer_call(episode)
    if ended:
        episode.row.append([EOS], own=True, log_prob=-0.5, version=3)
        episode.row.ended = True
    return episode


@pytest.mark.parametrize(
    ("episode", "success"),
    [
        (played("set", "a", "7", "[Sa7]", "="), True),
        (played("set", "a", "4", "="), True),  # it is there already
        (played("set", "a", "7", "="), False),  # claims, and did nothing
        (played("set", "a", "7", "[Sa7]", "[Sb1]", "="), False),  # and broke something else
        (played("set", "a", "7", "[Sa7]", ended=False), False),
        (played("set", "a", "7", "[Sa7]"), False),  # never says that it is done
        (played("get", "b", "", "[Gb]", "=2"), True),
        (played("get", "b", "", "=2"), True),
        (played("get", "b", "", "[Gb]", "=3"), False),
        (played("get", "b", "", "[Gb]", "="), False),
        (played("copy", "ab", "", "[Ga]", "[Sb4]", "="), True),
        (played("copy", "ab", "", "[Ga]", "[Sb2]", "="), False),
        (played("add", "ad", "", "[Ga]", "[Gd]", "[+47]", "=1"), True),
        (played("add", "ad", "", "[Ga]", "[Gd]", "[+47]", "=2"), False),
    ],
)
def test_success_is_read_from_the_state_and_the_answer(episode: Episode, success: bool) -> None:
    assert episode.success == success


def test_tools_do_what_they_are_asked_and_say_so() -> None:
    episode = played("set", "a", "7", "[Sa7]", "[Ga]", "[+89]", "[Zz]".replace("Z", "C").replace("z", "a"), "~[S7]")
    assert [(c.name, c.arguments, c.result, c.failed, c.changed, c.turn) for c in episode.calls] == [
        ("set", "a7", ">7", False, True, 0),
        ("get", "a", ">7", False, False, 1),
        ("add", "89", ">7", False, False, 2),
        ("none", "Ca", "!", True, False, 3),
        ("none", "S7", "!", True, False, 4),
    ]
    assert episode.turns == 6


def test_a_tool_out_of_order_changes_nothing_and_is_noted() -> None:
    episode = begin(Errand("set", "a", "7", STORE), 0)
    episode.row.append(encode("[Sa7]"), own=True, log_prob=0.0, version=0)
    answer_call(episode, broken=True)
    assert episode.store["a"] == "4"
    assert episode.broken
    assert tool_measures([episode, played("set", "a", "7", "[Sa7]", "=")]) == {
        "env/turns_mean": 2.0,
        "env/turns_max": 2.0,
        "env/error_fraction": 0.5,
        "tool/calls_mean": 1.0,
        "tool/failure_fraction": 0.5,
    }


@settings(max_examples=40)
@given(seed=st.integers(0, 100_000))
def test_the_expert_succeeds_and_a_slipping_one_does_not_always(seed: int) -> None:
    chance = dice(seed)
    assert all(expert(errand, chance).success for errand in errands(8, chance))
    assert not all(expert(errand, chance, errors_frac=0.8).success for errand in errands(40, chance))


@pytest.mark.parametrize("kind", KINDS)
def test_held_out_errands_have_prompts_of_their_own(kind: str) -> None:
    trained = {errand.prompt for errand in errands(200, dice(0), (kind,))}
    held = {errand.prompt for errand in errands(50, dice(0), (kind,), held_out=True)}
    assert held
    assert not trained & held


def test_what_a_tool_wrote_is_read_and_not_learned() -> None:
    episode = played("get", "b", "", "[Gb]", "=2")
    batch = collate([episode.row])
    assert episode.row.text == "[Gb]>2=2"
    assert batch["loss_mask"][0].tolist() == [False] * 4 + [True] * 4 + [False] * 2 + [True] * 3
    assert bool(batch["attention"].all())
    assert episode.row.length == 7


def taught() -> TinyLM:
    """A model that plays the two easy errands, badly."""
    torch.manual_seed(0)
    model, chance = TinyLM(width=32, layers=1), dice(5)
    imitate(
        model,
        lambda chance: expert(errands(1, chance, SMALL.kinds)[0], chance, errors_frac=0.2).row,
        good_enough=lambda: chance.random() < 0.0,
        seed=0,
        max_updates=60,
    )
    return model


MODEL = taught()


def build(seed: int = 0, **settings: Any) -> ToolAgent:
    return ToolAgent(seed=seed, config=replace(SMALL, **settings), model=MODEL)


def test_rollouts_are_episodes_with_tool_answers_in_their_places() -> None:
    found = build().collect()
    assert sum(not all(row.own) for row in found.rows) > len(found.rows) / 3
    for row in found.rows:
        for place, own in enumerate(row.own):
            if not own and row.own[place - 1]:
                assert row.text[: place - len(row.tokens)].endswith("]") or row.tokens[place - 1] == encode("]")[0]
        assert row.log_probs == [p if own else 0.0 for p, own in zip(row.log_probs, row.own, strict=True)]
    assert found.reward.tolist() == found.solved.float().tolist()


def test_an_episode_is_cut_after_its_last_turn() -> None:
    trainer = build(max_turns=1)
    found = trainer.collect()
    assert max(found.numbers["env/turns_max"], 2.0) == 2.0
    cut = [row for row in found.rows if not all(row.own)]
    assert cut
    assert all(row.stopped and not row.ended for row in cut)


def test_the_gradient_does_not_depend_on_how_likely_tool_tokens_are() -> None:
    trainer = build(loss_type="dapo")
    batch = trainer.prepare(trainer.collect().batch())
    batch["advantage"] = torch.randn(len(batch["ids"]), generator=torch.Generator().manual_seed(0))

    def gradient() -> torch.Tensor:
        trainer.model.zero_grad()
        trainer.loss(batch)["policy"].backward()
        return torch.cat([w.grad.flatten() for w in trainer.model.parameters() if w.grad is not None])

    before = gradient()
    tools = batch["attention"] & ~batch["loss_mask"]
    batch["old_log_prob"] = torch.where(tools, torch.full_like(batch["old_log_prob"], -9.0), batch["old_log_prob"])
    assert torch.equal(gradient(), before)
    batch["loss_mask"] = batch["attention"] & (torch.arange(batch["ids"].shape[1]) > 0)  # the bug: all is learned
    assert not torch.allclose(gradient(), before, atol=1e-4)


def test_paying_for_calls_is_a_reward_that_can_be_switched_on() -> None:
    found = build(call_weight=0.5).collect()
    assert torch.allclose(found.reward, found.components["success"] + 0.5 * found.components["calls"])


def test_an_update_logs_canonical_names_and_a_seed_fixes_it() -> None:
    def once(seed: int) -> list[dict[str, float]]:
        rows: list[dict[str, float]] = []
        ToolAgent(seed=seed, config=replace(SMALL, eval_every=1), model=MODEL).learn(
            2, log=lambda row, _: rows.append(row)
        )
        return [without_clocks(row) for row in rows]

    rows = once(1)
    assert rows == once(1) != once(2)
    for row in rows:
        check_names(row)
        assert {"env/turns_mean", "tool/calls_mean", "reward/eval_mean"} <= row.keys()
    assert rows[0]["policy/ratio_first_minibatch"] == pytest.approx(1.0, abs=1e-6)
    assert rows[0]["policy/kl_ref"] == 0.0
    assert rows[0]["async/logprob_mismatch"] < 1e-4


def test_a_sample_reads_back_as_the_episode_it_was(tmp_path: Path) -> None:
    episode = played("get", "b", "", "[Gb]", "[S7]", "=2")
    record_jsonl(tmp_path / "e.jsonl")([as_sample(episode, reward=1.0, step=4, scores={"success": 1.0})])
    (sample,) = read_samples(tmp_path / "e.jsonl")
    assert (sample.prompt, sample.reward, sample.step) == ("Gb>", 1.0, 4.0)
    assert [(turn.role, turn.text) for turn in sample.turns] == [
        ("user", "Gb>"),
        ("assistant", "[Gb]"),
        ("tool", ">2"),
        ("assistant", "[S7]"),
        ("tool", "!"),
        ("assistant", "=2"),
    ]
    calls = [call for turn in sample.turns for call in turn.calls]
    assert [(c.name, c.arguments, c.result, c.failed, c.changed) for c in calls] == [
        ("get", "b", ">2", False, False),
        ("none", "S7", "!", True, False),
    ]
    assert sample.success is True
    assert sample.truncated is False
    assert sample.scores["reward_success"] == 1.0
    assert (sample.versions, sample.scores["own_tokens"], sample.category) == ((2.0, 3.0), 11.0, "get")
    assert sample.tokens is not None
    own = [place for place, inside in enumerate(sample.tokens.loss_mask) if inside]
    assert decode(sample.tokens.ids[place] for place in own) == "[Gb][S7]=2"
    assert len(sample.tokens.logprobs) == len(sample.tokens.ids) - sample.tokens.start


def test_every_episode_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run" / "episodes.jsonl"
    trainer = ToolAgent(seed=0, config=SMALL, model=MODEL, record=record_jsonl(path))
    trainer.learn(2)
    samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(samples) == 24
    assert {sample["step"] for sample in samples} == {0, 1}
    assert len({sample["group"] for sample in samples}) == 6
    claims = [sample for sample in samples if sample["claims_done"]]
    assert all(sample["claims_done"] for sample in samples if sample["success"])
    assert len(claims) >= sum(sample["success"] for sample in samples)
