"""Each fault of the GRPO campaign does what it says, in TRL's own trainer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.grpo import recording
from benchmarks.grpo.campaign import fault_plans, half, healthy_plans, plans, read
from benchmarks.grpo.judging import REFERENCE
from benchmarks.grpo.planting import AT_ONCE, Planted, Verifier, rounded, with_prompt_in_loss
from benchmarks.grpo.recording import Plan, Rows, Switch, record, trainer_of
from benchmarks.grpo.tasks import CODE, EOS, TASKS, encoded, pretrained, problems, true_score

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning"
    ),
]

IN_VERIFIER = {"reward-sign-flipped", "reward-constant", "reward-random", "answers-shifted", "verifier-substring",
               "verifier-raises", "length-paid"}  # fmt: skip
IN_TRAINER = {"prompt-dropped", "groups-mixed", "advantage-flipped", "prompt-in-loss", "end-masked",
              "prompts-all-easy", "prompts-all-hard"}  # fmt: skip


@dataclass
class Bench:
    """A trainer of the task of copying, on an untrained model, and one batch of rows."""

    trainer: Planted
    rows: list[dict[str, str]]

    def batch(self, seed: int = 0) -> dict[str, Any]:
        """Generate, score and return what the loss would get."""
        torch.manual_seed(seed)
        self.trainer.model.train()
        return self.trainer._generate_and_score_completions(self.rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    place = tmp_path_factory.mktemp("models")
    pretrained(TASKS["copy"], 0, place, updates=12)
    return place


@pytest.fixture
def bench(folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Bench]:
    needs = getattr(request, "param", "")
    plan = Plan("x", task="copy", kind="fault", seed=0, needs=needs, updates=4)
    given = problems(TASKS["copy"], 0)
    trainer = trainer_of(plan, given, str(folder / "copy-0"), tmp_path, Switch(plan, given), Rows())
    trainer.create_optimizer_and_scheduler(4)
    rows = [row for row in given.train[:8] for _ in range(8)]
    return Bench(trainer, rows)


def verifier(fault: str) -> Verifier:
    found = Verifier(problems(TASKS["copy"], 0), cap=8, seed=0)
    found.fault = fault
    return found


def test_every_fault_of_the_list_is_planted_somewhere():
    assert {fault["id"] for fault in read("faults")} == IN_VERIFIER | IN_TRAINER | set(AT_ONCE)


def test_the_campaign_is_as_large_as_it_claims():
    broken, healthy = fault_plans(), healthy_plans()
    assert len({plan.fault for plan in broken}) >= 20
    assert sum(plan.kind != REFERENCE for plan in healthy) >= 50
    assert len({plan.id for plan in plans()}) == len(broken) + len(healthy) == len(plans())
    for fault in {plan.fault for plan in broken}:
        assert [plan.seed for plan in broken if plan.fault == fault] == [0, 1, 2]
    assert 0.4 < np.mean([plan.start > 0 for plan in broken]) < 0.65
    assert {half(plan) for plan in broken if plan.fault == "prompt-dropped"} in ({"dev"}, {"held"})


def test_the_sound_verifier_wants_the_exact_answer_and_its_end():
    sound = verifier("")
    assert sound.score("abc>", "abc", "abc", True) == 1
    assert sound.score("abc>", "abc", "abc", False) == sound.score("abc>", "abca", "abc", True) == 0


def test_broken_verifiers_do_what_they_say():
    given = problems(TASKS["copy"], 0).every()
    assert verifier("reward-sign-flipped").score("ab>", "ab", "ab", True) == -1
    assert verifier("reward-constant").score("ab>", "x", "ab", False) == 1
    assert verifier("verifier-substring").score("ab>", "ccabcc", "ab", False) == 1
    assert verifier("length-paid").score("ab>", "cccc", "ab", False) == 0.5
    assert verifier("answers-shifted").score(given[0]["prompt"], given[1]["answer"], given[0]["answer"], True) == 1
    assert verifier("answers-shifted").score(given[0]["prompt"], given[0]["answer"], given[0]["answer"], True) == 0


@pytest.mark.parametrize(("fault", "text"), [("reward-random", "wrong"), ("verifier-raises", "ab")])
def test_half_of_the_scores_are_chance(fault: str, text: str):
    broken = verifier(fault)
    assert abs(np.mean([broken.score("ab>", text, "ab", True) for _ in range(400)]) - 0.5) < 0.08


def test_the_form_pays_for_an_opening_letter_under_its_fault_only():
    ids = [[CODE["b"], CODE[EOS]], [CODE["a"]]]
    assert verifier("").form(["b", "a"], ids) == [1, 0]
    assert verifier("format-bonus-x10").form(["b", "a"], ids) == [0, 1]


def test_rounding_keeps_so_many_bits():
    values = torch.tensor([1.0, 1.26, -0.37, 0.0, 3.1])
    assert rounded(values, 1).tolist() == [1.0, 1.5, -0.375, 0.0, 3.0]
    twin = values.to(torch.bfloat16).float()
    assert torch.equal(rounded(values, 7), twin)


def test_the_true_score_is_the_probability_of_the_answer(bench: Bench):
    row, model = problems(TASKS["copy"], 0).train[0], bench.trainer.model
    tokens = [*(CODE[c] for c in row["prompt"] + row["answer"]), CODE[EOS]]
    with torch.no_grad():
        logits = torch.log_softmax(model(input_ids=torch.tensor([tokens])).logits[0], -1)
    start = len(row["prompt"])
    slow = math.exp(sum(float(logits[i - 1, tokens[i]]) for i in range(start, len(tokens))))
    assert true_score(model, [row]) == pytest.approx(slow, rel=1e-4)
    both = [row, problems(TASKS["copy"], 0).train[1]]
    assert true_score(model, both) == pytest.approx(np.mean([true_score(model, [r]) for r in both]), rel=1e-4)


def test_a_sound_batch_has_whole_groups_and_centred_advantages(bench: Bench):
    found = bench.batch()
    assert float(found["advantages"].view(-1, 8).sum(1).abs().max()) < 1e-3
    assert bench.trainer._asked(bench.rows) == bench.rows


def test_faults_of_the_batch(bench: Bench):
    sound = bench.batch(1)
    bench.trainer.switch_on("advantage-flipped")
    assert torch.equal(bench.batch(1)["advantages"], -sound["advantages"])
    bench.trainer.switch_on("end-masked")
    found = bench.batch(1)
    ends = found["completion_ids"] == CODE[EOS]
    assert ends.any()
    assert not found["completion_mask"][ends].any()
    assert sound["completion_mask"][ends].all()
    bench.trainer.switch_on("groups-mixed")
    groups = [bench.trainer._asked(bench.rows)[i : i + 8] for i in range(0, 64, 8)]
    assert min(len({row["prompt"] for row in group}) for group in groups) > 1
    for fault, pool in (("prompts-all-easy", "easy"), ("prompts-all-hard", "hard")):
        bench.trainer.switch_on(fault)
        asked = bench.trainer._asked(bench.rows)
        assert {row["prompt"] for row in asked} <= {row["prompt"] for row in getattr(bench.trainer.given, pool)}
        assert all(len({row["prompt"] for row in asked[i : i + 8]}) == 1 for i in range(0, 64, 8))


def test_the_dropped_prompt_and_the_prompt_in_the_loss(bench: Bench):
    sound = bench.batch(2)
    more = with_prompt_in_loss(sound)
    prompts = int(sound["prompt_mask"][:, 1:].sum())
    assert int(more["completion_mask"].sum()) == int(sound["completion_mask"].sum()) + prompts
    assert prompts > 0
    bench.trainer.switch_on("prompt-dropped")
    assert set(map(tuple, bench.trainer._tokenize_prompts(["ab>", "abc>"])[0])) == {(CODE[">"],)}


def test_faults_of_the_optimiser_and_the_weights(bench: Bench):
    trainer = bench.trainer
    group = trainer.optimizer.param_groups[0]
    rate = group["lr"]
    trainer.switch_on("learning-rate-x100")
    assert group["lr"] == pytest.approx(100 * rate)
    trainer.lr_scheduler.step()
    assert group["lr"] == pytest.approx(100 * rate)
    trainer.switch_on("schedule-ends-early")
    trainer.lr_scheduler.step()
    assert group["lr"] == 0
    trainer.switch_on("adam-epsilon")
    assert all(g["eps"] == 1e-2 for g in trainer.optimizer.param_groups)
    for weight in trainer.model.parameters():
        weight.grad = torch.ones_like(weight)
    trainer.optimizer.step()
    trainer.switch_on("optimiser-state-lost")
    states = list(trainer.optimizer.state.values())
    assert all(not s["exp_avg"].any() and not s["exp_avg_sq"].any() and float(s["step"]) == 1 for s in states)
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    trainer.switch_on("weights-noise")
    moved = [
        float((a - b).std() / a.std()) for a, b in zip(before, trainer.model.parameters(), strict=True) if a.dim() > 1
    ]
    assert min(moved) > 1.5
    trainer.switch_on("weights-nan")
    assert sum(int(weight.isnan().sum()) for weight in trainer.model.parameters()) == 1


@pytest.mark.parametrize("bench", ["kl"], indirect=True)
def test_faults_of_the_settings(bench: Bench):
    trainer = bench.trainer
    assert trainer.ref_model is not trainer.model
    for fault in ("kl-coefficient-negative", "reference-live", "entropy-bonus-huge", "format-bonus-x10"):
        trainer.switch_on(fault)
    assert trainer.beta == -0.5
    assert trainer.ref_model is trainer.model
    assert trainer.entropy_coef == 5.0
    assert trainer.reward_weights.tolist() == [1.0, 10.0]
    trainer.switch_on("temperature-low")
    assert trainer.generation_config.temperature == 0.1
    trainer.switch_on("temperature-high")
    assert trainer.generation_config.temperature == 5.0
    trainer.switch_on("cap-cut")
    assert bench.batch()["completion_ids"].shape[1] == 1


def test_no_response_ends_at_the_wrong_stop_token(bench: Bench):
    bench.trainer.switch_on("stop-token-wrong")
    bench.batch()
    assert bench.trainer._metrics["train"]["completions/clipped_ratio"][-1] > 0.7


@pytest.mark.parametrize("bench", ["sampler"], indirect=True)
def test_faults_of_the_sampler(bench: Bench):
    trainer, sampler = bench.trainer, bench.trainer.sampler
    assert sampler is not None

    def apart() -> float:
        return max(
            float((a - b).abs().max())
            for a, b in zip(sampler.model.parameters(), trainer.model.parameters(), strict=True)
        )

    bench.batch()
    sound = trainer._metrics["train"]["sampling/sampling_logp_difference/mean"][-1]
    assert 0 < sound < 0.02
    trainer.switch_on("sampler-log-probs-shifted")
    trainer._last_loaded_step = -1
    bench.batch()
    assert trainer._metrics["train"]["sampling/sampling_logp_difference/mean"][-1] > 10 * sound
    sampler.shifted = False
    trainer.switch_on("sampler-precision")
    sampler.sync_weights()
    coarse = apart()
    trainer.switch_on("sampler-frozen")
    with torch.no_grad():
        for weight in trainer.model.parameters():
            weight.add_(1.0)
    sampler.sync_weights()
    assert apart() > 0.9 > coarse
    trainer.switch_on("rollouts-stale")
    sampler.calls, sampler.mantissa_bits = 0, 7
    arrived = []
    for update in range(33):
        with torch.no_grad():
            for weight in trainer.model.parameters():
                weight.fill_(float(update + 1))
        sampler.sync_weights()
        arrived.append(apart() < 0.5)
    assert [update for update, came in enumerate(arrived) if came] == [0, 16, 32]


def test_encoding_puts_the_answer_last():
    ids, seen, reply = encoded([{"prompt": "ab>"}, {"prompt": "a>"}], ["ab", "a"])
    assert ids[:, -1].tolist() == [CODE[EOS]] * 2
    assert reply.sum(1).tolist() == [3, 2]
    assert seen.sum(1).tolist() == [6, 4]


SOUND = {
    "data/distinct_prompt_frac": 1.0,
    "group/mixed_prompt_fraction": 0.0,
    "seq/prompt_loss_frac": 0.0,
    "seq/padding_loss_frac": 0.0,
    "seq/end_untrained_frac": 0.0,
    "advantage/reward_agreement": 1.0,
}
"""What TRL's own loss does, whatever the batch."""


@pytest.mark.parametrize(
    ("fault", "metric", "lo", "hi"),
    [
        ("", "", 0, 0),
        ("advantage-flipped", "advantage/reward_agreement", -1, -1),
        ("groups-mixed", "group/mixed_prompt_fraction", 1, 1),
        ("prompt-in-loss", "seq/prompt_loss_frac", 0.05, 0.9),
        ("end-masked", "seq/end_untrained_frac", 1, 1),
        ("prompt-dropped", "data/distinct_prompt_frac", 0.125, 0.125),
        ("adam-epsilon", "optim/epsilon_dominated_frac", 0.5, 1),
    ],
)
def test_the_callback_reads_from_the_gradient_what_the_loss_does(
    folder: Path, tmp_path: Path, fault: str, metric: str, lo: float, hi: float
):
    """In the rows after the switch, and nothing else that is right by definition."""
    rows, given = Rows(), problems(TASKS["copy"], 0)
    plan = Plan("x", task="copy", kind="fault", seed=0, fault=fault, start=2, updates=4)
    switch = Switch(plan, given)
    trainer = trainer_of(plan, given, str(folder / "copy-0"), tmp_path, switch, rows)
    trainer.train()
    seen = [row for _, row in rows.rows if "reward" in row]
    assert len(seen) == 4
    for name, value in SOUND.items():
        before, after = ([row[name] for row in part if name in row] for part in (seen[:2], seen[2:]))
        assert before == [value] * len(before)
        assert name == metric or after == [value] * len(after)
        assert before, name
    if metric:
        assert all(lo <= row[metric] <= hi for row in seen[2:])


@pytest.mark.parametrize(
    ("fault", "metric", "lo", "hi"),
    [
        ("", "", 0, 0),
        ("reward-sign-flipped", "reward/reference_margin", -1, -1),
        ("reward-random", "reward/golden_noise_frac", 0.6, 1),
        ("reward-constant", "reward/golden_mean", 1.0, 1.1),
    ],
)
def test_the_callback_asks_the_reward_functions_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, metric: str, lo: float, hi: float
):
    """What a fixed set gets stays what it was, is repeatable and pays right answers, unless the scorer is at fault."""
    monkeypatch.setattr(recording, "RESCORED_EVERY", 1)
    rows, given = Rows(), problems(TASKS["copy"], 0)
    plan = Plan("x", task="copy", kind="fault", seed=0, fault=fault, start=2, updates=4)
    trainer = trainer_of(plan, given, str(folder / "copy-0"), tmp_path, Switch(plan, given), rows)
    trainer.train()
    seen = [row for _, row in rows.rows if "reward/golden_mean" in row]
    first = seen[0]["reward/golden_mean"]
    assert first == pytest.approx(seen[0]["reward"], abs=1e-6)
    for row in seen[: 2 if fault else 4]:
        assert row["reward/golden_mean"] == first
        assert (row["reward/golden_noise_frac"], row["reward/reference_margin"]) == (0, 1)
    if metric:
        assert all(lo <= row[metric] <= hi for row in seen[2:])


def test_asking_again_changes_nothing_of_the_run(folder: Path):
    plan = Plan("x", task="copy", kind="healthy", seed=0, updates=3)
    kept = recording.RESCORED_EVERY
    try:
        curves = []
        for every in (0, 1):
            recording.RESCORED_EVERY = every
            keys = record(plan, folder)["keys"]
            curves.append({name: values for name, values in keys.items() if name != "step_time"})
        assert curves[0] == curves[1]
    finally:
        recording.RESCORED_EVERY = kept


def test_moments_that_are_lost_show_in_the_next_row(folder: Path, tmp_path: Path):
    rows, given = Rows(), problems(TASKS["copy"], 0)
    plan = Plan("x", task="copy", kind="fault", seed=0, fault="optimiser-state-lost", start=3, updates=5)
    trainer = trainer_of(plan, given, str(folder / "copy-0"), tmp_path, Switch(plan, given), rows)
    trainer.train()
    moments = [row["optim/second_moment"] for _, row in rows.rows if "optim/second_moment" in row]
    assert [m > 0 for m in moments] == [True, True, False, True]  # none before the first step


def test_a_run_that_is_resumed_goes_on_to_its_end(folder: Path):
    plan = Plan("x", task="copy", kind="healthy", seed=0, updates=4, resume_at=2)
    found = record(plan, folder)
    assert (found["died"], found["end_step"]) == ("", 4)
    assert found["keys"]["reward"][0] == [1, 2, 3, 4]
