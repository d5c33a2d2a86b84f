"""GRPO: rewards, groups, what an update moves and logs, and that a seed fixes it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.trainers.language.experience import Experience, joined
from firstbreak.trainers.language.grpo import GRPO, GRPOConfig, train
from firstbreak.trainers.language.losses import LOSS_TYPES, group_advantages
from firstbreak.trainers.language.measures import (
    group_advantage_measures,
    group_measures,
    length_measures,
    pass_at_k,
)
from firstbreak.trainers.language.policy_measures import clip_measures, effective_share
from firstbreak.trainers.language.sampling import Row
from firstbreak.trainers.language.tasks import (
    FORM,
    KINDS,
    Problem,
    Puzzles,
    correct_reward,
    dice,
    format_reward,
    right_response,
)

from .subjects import EASY, check_names, raw_model, warm_model, without_clocks

SMALL = GRPOConfig(prompts_per_update=4, num_generations=6, max_new_tokens=8, eval_every=0)


def build(seed: int = 0, **settings: Any) -> GRPO:
    return GRPO(seed=seed, config=replace(SMALL, **settings), puzzles=EASY, model=warm_model())


# ---- problems -------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(seed=st.integers(0, 100_000), kind=st.sampled_from(KINDS), held_out=st.booleans())
def test_answers_are_those_of_a_reader_of_the_prompt(seed: int, kind: str, held_out: bool) -> None:
    problem = Puzzles((kind,), (1, 2, 3, 4)).draw(1, dice(seed), held_out=held_out)[0]
    sign, body = problem.prompt[0], problem.prompt[1:-1]
    answers = {
        "C": lambda: body,
        "R": lambda: "".join(reversed(body)),
        "N": lambda: str(sum(letter == body[0] for letter in body[1:])),
        "+": lambda: str((int(body[0]) + int(body[1])) % 10),
        "P": lambda: body,
    }
    assert problem.answer == answers[sign]()
    assert problem.prompt.endswith(">")


def test_held_out_prompts_are_never_trained_on() -> None:
    puzzles = Puzzles()
    trained = {problem.prompt for problem in puzzles.draw(500, dice(0))}
    held = {problem.prompt for problem in puzzles.draw(200, dice(0), held_out=True)}
    assert len(held) > 50
    assert not trained & held


@pytest.mark.parametrize(
    ("text", "ended", "form", "correct"),
    [
        ("=ab", True, 1.0, 1.0),
        ("~~=ab", True, 1.0, 1.0),
        ("=ba", True, 1.0, 0.0),
        ("=ab", False, 0.0, 0.0),
        ("ab", True, 0.0, 0.0),
        ("=", True, 0.0, 0.0),
        ("", True, 0.0, 0.0),
        ("=ab=ab", True, 0.0, 0.0),
        ("=abc", True, 1.0, 0.0),
        ("=ab~", True, 0.0, 0.0),
    ],
)
def test_rewards_ask_for_form_and_answer(text: str, ended: bool, form: float, correct: float) -> None:
    problem = Problem("Cab>", "ab", "copy", 2)
    assert (format_reward(problem, text, ended), correct_reward(problem, text, ended)) == (form, correct)


def test_the_right_response_is_right_with_any_fillers() -> None:
    for problem in Puzzles(KINDS, (1, 2, 3, 4)).draw(60, dice(1)):
        assert all(correct_reward(problem, right_response(problem, n), True) for n in range(4))


def test_a_warm_model_solves_some_and_not_all() -> None:
    found = build(num_generations=64, prompts_per_update=6).generate()
    assert 0.2 <= float(found.solved.float().mean()) <= 0.8
    assert sum(FORM.fullmatch(row.text) is not None for row in found.rows) > 0.7 * len(found.rows)


# ---- data -----------------------------------------------------------------------------------------------------------


def test_a_group_is_one_prompt_and_no_two_groups_share_a_name() -> None:
    trainer = build()
    rows = [row for _ in range(2) for row in trainer.collect().rows]
    prompts: dict[int, set[tuple[int, ...]]] = {}
    for row in rows:
        prompts.setdefault(row.group, set()).add(row.prompt)
    assert len(prompts) == 8
    assert all(len(found) == 1 for found in prompts.values())
    assert all(sum(row.group == group for row in rows) == 6 for group in prompts)


def test_the_reward_is_the_weighted_sum_and_can_be_replaced_from_outside() -> None:
    trainer = build(format_weight=0.25, correct_weight=2.0)
    found = trainer.generate()
    total = 0.25 * found.components["format"] + 2.0 * found.components["correct"]
    assert torch.allclose(found.reward, total)
    trainer.rewards["correct"] = lambda _problem, text, _ended: float(len(text))
    hacked = trainer.generate()
    assert hacked.components["correct"].tolist() == [len(row.text) for row in hacked.rows]
    assert hacked.solved.dtype == torch.bool  # success is still the task's


def made(rewards: list[list[float]], first: int = 0) -> Experience:
    rows = [Row((1,), first + g, tokens=[5, 2], own=[True, True]) for g, part in enumerate(rewards) for _ in part]
    flat = torch.tensor([float(reward) for part in rewards for reward in part])
    return Experience(rows, flat, {"r": flat}, flat > 0.5)


def test_only_groups_whose_rewards_differ_are_kept_by_dynamic_sampling() -> None:
    batches = iter([made([[1, 1], [0, 1], [0, 0]]), made([[0, 1], [1, 0], [0, 1]], 3)])
    trainer = build(dynamic_sampling=True, prompts_per_update=3)
    trainer.generate = lambda: next(batches)  # type: ignore[method-assign]
    found = trainer.collect()
    assert found.reward.reshape(-1, 2).sum(1).tolist() == [1.0, 1.0, 1.0]
    assert found.numbers["group/kept_fraction"] == 0.5
    assert found.numbers["group/filtered_count"] == 3.0
    assert found.numbers["reward/rollout_mean"] == pytest.approx(0.5)


def test_dynamic_sampling_gives_up_and_trains_on_what_there_is() -> None:
    trainer = build(dynamic_sampling=True, max_batches=2)
    trainer.rewards = {"nothing": lambda *_: 0.0}
    metrics = trainer.update(trainer.collect())
    assert metrics["group/kept_fraction"] == 0.0
    assert metrics["group/zero_std_fraction"] == 1.0
    assert metrics["optim/grad_norm"] == 0.0


def test_joined_experience_keeps_rows_and_numbers_together() -> None:
    both = joined([made([[1.0, 2.0]]), made([[3.0]])])
    assert both.reward.tolist() == [1.0, 2.0, 3.0]
    assert both.components["r"].tolist() == [1.0, 2.0, 3.0]
    assert len(both.rows) == 3


# ---- the update -----------------------------------------------------------------------------------------------------


def test_before_the_first_step_the_ratio_is_one_and_the_reference_is_the_policy() -> None:
    trainer = build()
    metrics = trainer.update(trainer.collect())
    assert metrics["policy/ratio_first_minibatch"] == 1.0
    assert metrics["policy/kl_ref"] == 0.0
    assert metrics["policy/clip_fraction"] == 0.0
    assert metrics["async/logprob_mismatch"] < 1e-5
    assert metrics["policy/kl_old"] > 0
    assert trainer.update(trainer.collect())["policy/kl_ref"] > 0


@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_an_update_moves_every_weight_the_batch_touches(loss_type: Any) -> None:
    trainer = build(loss_type=loss_type, beta=0.05, num_minibatches=2, num_iterations=2, micro_batches=2)
    before = {name: weight.detach().clone() for name, weight in trainer.model.named_parameters()}
    metrics = trainer.update(trainer.collect())
    assert all(not torch.equal(weight, before[name]) for name, weight in trainer.model.named_parameters())
    assert all(torch.equal(a, b) for a, b in zip(trainer.reference.parameters(), before.values(), strict=True))
    assert trainer.gradient_steps == 4
    check_names(metrics)


def test_truncated_responses_are_left_out_where_they_are_masked() -> None:
    trainer = build(mask_truncated=True, max_new_tokens=3)
    found = trainer.collect()
    batch = trainer.prepare(found.batch())
    cut = torch.tensor([row.stopped for row in found.rows])
    assert bool(cut.any())
    assert bool((~cut).any())
    assert not batch["loss_mask"][cut].any()
    assert batch["loss_mask"][~cut].any(1).all()
    assert batch["own"][cut].any(1).all()


def test_a_constant_reward_moves_nothing() -> None:
    trainer = build()
    trainer.rewards = {"always": lambda *_: 1.0}
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    metrics = trainer.update(trainer.collect())
    assert all(torch.equal(a, b) for a, b in zip(trainer.model.parameters(), before, strict=True))
    assert metrics["group/zero_std_fraction"] == 1.0
    assert metrics["advantage/zero_frac"] == 1.0


def test_one_rewarded_symbol_becomes_likelier() -> None:
    trainer = build(learning_rate=3e-3)
    trainer.rewards = {"fillers": lambda _problem, text, _ended: text.count("~") / 8}
    means = [trainer.update(trainer.collect())["reward/train_mean"] for _ in range(12)]
    assert sum(means[-3:]) / 3 > sum(means[:3]) / 3 + 0.1


def test_a_repeated_batch_is_noticed() -> None:
    trainer = build()
    found = trainer.collect()
    assert trainer.update(found)["data/repeat_fraction"] == 0.0
    assert trainer.update(found)["data/repeat_fraction"] == 1.0


def run(seed: int, updates: int = 3, **settings: Any) -> tuple[list[dict[str, float]], GRPO]:
    rows: list[dict[str, float]] = []
    config = replace(SMALL, eval_every=2, **settings)
    trainer = train(
        updates=updates, seed=seed, config=config, puzzles=EASY, model=warm_model(), log=lambda row, _: rows.append(row)
    )
    return [without_clocks(row) for row in rows], trainer


def test_a_seed_fixes_the_run_and_another_gives_another() -> None:
    (rows, one), (again, same), (_, other) = run(3), run(3), run(4)
    assert rows == again
    pairs = [list(trainer.model.parameters()) for trainer in (one, same, other)]
    assert all(torch.equal(a, b) for a, b in zip(pairs[0], pairs[1], strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(pairs[0], pairs[2], strict=True))


def test_the_log_is_canonical_and_evaluation_changes_nothing_in_training() -> None:
    rows, trainer = run(3, updates=4)
    for row in rows:
        check_names(row)
        assert all(math.isfinite(value) for value in row.values())
    assert [("reward/eval_mean" in row) for row in rows] == [False, True, False, True]
    silent = train(updates=4, seed=3, config=SMALL, puzzles=EASY, model=warm_model())
    assert all(torch.equal(a, b) for a, b in zip(trainer.model.parameters(), silent.model.parameters(), strict=True))


def test_the_answer_of_the_log_ends_training() -> None:
    class Stop:
        stop_training = True

    trainer = build()
    trainer.learn(5, log=lambda _row, update: Stop() if update == 2 else None)
    assert trainer.updates == 2


# ---- measures against slow twins ------------------------------------------------------------------------------------


def test_groups_without_spread_are_split_into_all_right_and_all_wrong() -> None:
    found = made([[1, 1, 1], [0, 0, 0], [0, 1, 0], [0.2, 0.0, 0.2]])
    group = torch.tensor([row.group for row in found.rows])
    measures = group_measures(found.reward, found.solved, group)
    assert measures["group/zero_std_fraction"] == 0.5
    assert measures["group/all_solved_fraction"] == 0.25
    assert measures["group/none_solved_fraction"] == 0.5
    by_hand = (0 + 0 + math.sqrt(1 / 3) + math.sqrt(0.04 / 3)) / 4
    assert measures["group/reward_std_mean"] == pytest.approx(by_hand, rel=1e-5)


@pytest.mark.parametrize(("sign", "agreement"), [(1.0, 1.0), (-1.0, -1.0)])
def test_advantages_have_the_sign_of_what_is_paid_within_the_group(sign: float, agreement: float) -> None:
    reward, group = torch.tensor([1.0, 0.0, 0.3, 0.3, 5.0, 5.0, 5.2, 5.1]), torch.tensor([0, 0, 7, 7, 2, 2, 2, 2])
    advantage = sign * group_advantages(reward, group, "group")
    assert group_advantage_measures(advantage, reward, group)["advantage/order_agreement"] == pytest.approx(agreement)


def test_what_agrees_in_part_is_weighted_by_how_far_it_is_from_the_mean_of_the_group() -> None:
    reward, group = torch.tensor([3.0, 1.0, 0.0, 0.0, 2.0, 2.0]), torch.tensor([0, 0, 0, 0, 1, 1])
    advantage = torch.tensor([1.0, 0.0, 2.0, -1.0, 4.0, -4.0])
    by_hand = (2 - 1 + 1) / (2 + 1 + 1)  # distances 2, 0, -1 and -1; the pair is paid alike
    found = group_advantage_measures(advantage, reward, group)
    assert found["advantage/order_agreement"] == pytest.approx(by_hand)
    alike = group_advantage_measures(advantage[4:], reward[4:], group[4:])
    assert "advantage/order_agreement" not in alike
    assert alike["advantage/abs_max"] == 4.0


def test_lengths_count_the_models_own_tokens() -> None:
    rows = [
        Row((1, 9), tokens=[5, 6, 2], own=[True, False, True], ended=True),
        Row((1, 9, 9), tokens=[5] * 7, own=[True] * 7, stopped=True),
    ]
    found = length_measures(rows, torch.tensor([True, False]))
    assert (found["seq/len_mean"], found["seq/len_max"], found["seq/len_min"]) == (4.5, 7.0, 2.0)
    assert (found["seq/len_correct_mean"], found["seq/len_incorrect_mean"]) == (2.0, 7.0)
    assert found["seq/len_terminated_mean"] == 2.0
    assert (found["seq/truncated_fraction"], found["seq/repetition_fraction"]) == (0.5, 0.5)
    assert (found["seq/prompt_len_mean"], found["seq/total_len_max"]) == (2.5, 10.0)
    assert "seq/len_correct_mean" not in length_measures(rows, torch.tensor([False, False]))


@settings(max_examples=30)
@given(right=st.integers(0, 8), k=st.integers(1, 8))
def test_pass_at_k_is_the_share_of_draws_with_a_right_one(right: int, k: int) -> None:
    draws = list(combinations([True] * right + [False] * (8 - right), k))
    assert pass_at_k(right, 8, k) == pytest.approx(sum(any(draw) for draw in draws) / len(draws))


def test_clip_fractions_are_counted_by_side_and_sign() -> None:
    ratio, advantage = torch.tensor([0.5, 0.7, 1.0, 1.4, 4.0, 4.0]), torch.tensor([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    found = clip_measures(ratio, advantage, 0.2, 0.3, 3.0)
    sixths = {name.rpartition("/")[2]: round(6 * value) for name, value in found.items()}
    assert sixths == {
        "clip_fraction": 5,
        "clip_fraction_low": 2,
        "clip_fraction_high": 3,
        "clip_binding_low_frac": 1,
        "clip_binding_high_frac": 2,
        "clip_fraction_dual": 1,
    }


def test_the_effective_share_is_one_for_equal_weights_and_one_nth_for_one() -> None:
    assert float(effective_share(torch.full((10,), 3.0))) == pytest.approx(1.0)
    assert float(effective_share(torch.tensor([1.0] + [0.0] * 9))) == pytest.approx(0.1)


def test_a_model_given_is_not_changed() -> None:
    model = raw_model()
    before = [weight.detach().clone() for weight in model.parameters()]
    GRPO(seed=0, config=SMALL, puzzles=EASY, model=model).learn(1)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), before, strict=True))
