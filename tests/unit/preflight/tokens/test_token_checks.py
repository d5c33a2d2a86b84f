"""Every token check: planted bugs fire the check that is meant for them, originals and near misses are quiet."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from firstbreak.check import Symptom, checks_of, find_check
from firstbreak.diagnosis import Verdict
from firstbreak.finding import Severity, Skip
from firstbreak.preflight.tokens.api import inspect_tokens
from firstbreak.preflight.tokens.bench import TokenBench
from tests.probes import token_mutants, token_mutants_ppo
from tests.probes.token_reference import Grpo
from tests.probes.token_reference_ppo import Ppo

LIST = Path(__file__).parents[3] / "preflight" / "planted" / "token_mutants.toml"
MUTANTS = tomllib.loads(LIST.read_text("utf-8"))["mutant"]
MODULES: dict[str, ModuleType] = {"grpo": token_mutants, "ppo": token_mutants_ppo}
FIRES = {
    "prompt-in-loss": "prompt-token-weighted",
    "padding-in-loss": "padding-token-weighted",
    "tool-output-in-loss": "tool-token-weighted",
    "mask-shifted-left": "loss-mask-shifted",
    "mask-shifted-right": "loss-mask-shifted",
    "end-token-dropped": "end-token-untrained",
    "first-token-dropped": "sampled-token-untrained",
    "logits-not-shifted": "logits-score-wrong-token",
    "logits-shifted-twice": "logits-score-wrong-token",
    "positions-ignore-left-padding": "padding-changes-loss",
    "temperature-missing-in-loss": "temperature-differs-in-loss",
    "old-logprobs-without-temperature": "token-ratio-not-one-at-start",
    "dropout-in-loss": "policy-random-in-loss",
    "old-logprobs-in-half-precision": "token-ratio-not-one-at-start",
    "old-logprobs-with-gradient": "loss-without-token-gradient",
    "ids-tokenised-again": "sampled-ids-replaced",
    "end-token-appended": "end-token-appended",
    "mean-over-padded-length": "padding-changes-loss",
    "constant-normaliser-by-sequence": "normaliser-not-as-stated",
    "sequence-normaliser-by-token": "normaliser-not-as-stated",
    "token-mean-by-microbatch": "split-changes-gradient",
    "accumulation-not-divided": "split-changes-gradient",
    "advantages-over-batch": "groups-leak-advantage",
    "std-over-batch": "groups-leak-advantage",
    "groups-interleaved": "group-holds-several-prompts",
    "group-id-per-row": "group-holds-several-prompts",
    "advantage-without-mean": "group-advantage-not-zero-sum",
    "advantage-without-epsilon": "equal-rewards-give-advantage",
    "advantage-broadcast": "rows-share-one-advantage",
    "advantage-of-next-row": "advantage-of-another-row",
    "loss-sign-flipped": "token-advantage-sign-flipped",
    "advantage-normalised-twice": "token-weights-not-advantages",
    "kl-sign-flipped": "kl-pushes-from-reference",
    "kl-k1-as-loss": "kl-ignores-reference",
    "reference-follows-policy": "reference-is-the-policy",
    "reference-not-the-start": "reference-kl-not-zero-at-start",
    "reference-carries-gradient": "reference-logprobs-carry-gradient",
    "clip-on-wrong-side": "token-clip-stops-correction",
    "clip-kills-correction": "token-clip-stops-correction",
    "clip-missing-above": "token-clip-keeps-gradient",
    "entropy-over-padding": "entropy-counts-padding",
    "whitening-over-padding": "whitening-counts-padding",
    "reward-on-padding": "reward-on-padding-token",
    "gae-across-padding": "gae-beyond-last-token",
    "gae-across-sequences": "gae-crosses-rows",
    "value-target-shifted": "token-value-target-shifted",
    "value-at-wrong-token": "value-knows-its-token",
    "kl-penalty-added": "kl-penalty-rewards-drift",
    "reward-whitened-with-mean": "token-reward-without-cause",
    "value-loss-over-padding": "padding-changes-loss",
}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def looked(name: str, pieces: Any, seed: int = 0) -> Any:
    return find_check(name).look(TokenBench(pieces, seed))


def pieces_of(trainer: Any = Grpo, seed: int = 0, **settings: Any) -> Any:
    pieces = trainer(seed=seed).token_pieces()
    return replace(pieces, settings={**pieces.settings, **settings})


def test_the_list_and_the_planted_mutants_are_the_same() -> None:
    assert set(FIRES) == {m["id"] for m in MUTANTS}
    assert len(MUTANTS) >= 30
    assert sum(m["source"] != "own" for m in MUTANTS) >= len(MUTANTS) / 2


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m["id"])
def test_a_planted_bug_fires_its_check(mutant: dict[str, Any]) -> None:
    trainer = getattr(MODULES[mutant["subject"]], mutant["id"].replace("-", "_"))
    found = looked(FIRES[mutant["id"]], pieces_of(trainer))
    assert isinstance(found, Symptom)
    assert len(found.message) <= 120


@pytest.mark.parametrize("normalisation", ["sequence", "token", "constant"])
def test_the_original_is_healthy(normalisation: str) -> None:
    seen = inspect_tokens(type("Grpo", (Grpo,), {"normalisation": normalisation})(seed=5), seed=5)
    assert seen.verdict is Verdict.HEALTHY, [f.message for f in seen.findings] + list(seen.errors)
    assert len(seen.clear) >= 35


def test_the_original_ppo_is_healthy() -> None:
    seen = inspect_tokens(Ppo(seed=5), seed=5)
    assert seen.verdict is Verdict.HEALTHY, [f.message for f in seen.findings] + list(seen.errors)
    assert {"token-gae-differs", "value-knows-its-token", "whitening-counts-padding"} <= set(seen.clear)


def test_looking_leaves_the_trainer_as_it_was() -> None:
    trainer = Grpo(seed=1)
    before = {k: v.clone() for k, v in trainer.model.state_dict().items()}
    state = torch.get_rng_state()
    inspect_tokens(trainer, seed=1)
    assert all(torch.equal(v, before[k]) for k, v in trainer.model.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)
    assert all(w.grad is None for w in trainer.model.parameters())


# ---- near misses: what looks alike and is meant ----------------------------------------------------------------------


class _BatchScale(Grpo):
    def advantages(self, rewards: Any, group: Any) -> Any:
        means = torch.stack([rewards[group == g].mean() for g in group])
        return (rewards - means) / (rewards.std() + 1e-4)


class _LocalMean(Grpo):
    normalisation = "local-token"

    def reduced(self, by_token: Any, mask: Any, parts: int, step_tokens: Any) -> Any:
        del step_tokens
        return (by_token * mask).sum() / mask.sum() / parts


class _Sum(Grpo):
    normalisation = "sum"

    def reduced(self, by_token: Any, mask: Any, parts: int, step_tokens: Any) -> Any:
        del parts, step_tokens
        return (by_token * mask).sum()


class _EntropyBonus(Grpo):
    entropy_coef = 0.1

    def loss(self, batch: Any, parts: int = 1, step_tokens: Any = None) -> Any:
        scores = self.scores(self.model(batch["input_ids"], batch["attention_mask"])[:, :-1])
        mask = batch["loss_mask"][:, 1:].float()
        bonus = (-(scores.exp() * scores).sum(-1) * mask).sum() / mask.sum()
        return super().loss(batch, parts, step_tokens) - self.entropy_coef * bonus


NEAR: list[tuple[str, Callable[[], Any]]] = [
    ("groups-leak-advantage", lambda: pieces_of(_BatchScale, advantage_scale="batch")),
    ("split-changes-gradient", lambda: pieces_of(_LocalMean)),
    ("doubled-rows-change-loss", lambda: pieces_of(_Sum)),
    ("normaliser-not-as-stated", lambda: pieces_of(_Sum)),
    ("zero-advantage-moves-tokens", lambda: pieces_of(_EntropyBonus)),
    ("token-weights-not-advantages", lambda: pieces_of(_EntropyBonus)),
    (
        "reference-kl-not-zero-at-start",
        lambda: pieces_of(token_mutants.reference_not_the_start, reference_is_start=False),
    ),
    ("row-order-changes-advantage", lambda: pieces_of(groups_adjacent=True)),
    ("sampled-token-untrained", lambda: pieces_of(truncated_masked=True)),
]


@pytest.mark.parametrize(("name", "make"), NEAR, ids=[name for name, _ in NEAR])
def test_what_is_meant_is_left_alone(name: str, make: Callable[[], Any]) -> None:
    assert not isinstance(looked(name, make()), Symptom)


# ---- checks that no mutant of the list is meant for ------------------------------------------------------------------


class _OtherLogProbs(Grpo):
    def logprobs(self, batch: Any, model: Any = None) -> Any:
        return super().logprobs(batch, model) * 1.1


class _OldWithGraph(Grpo):
    def finish(self, batch: Any) -> Any:
        batch["old_logprobs"] = self.logprobs(batch) * batch["loss_mask"]
        return batch


class _PullsAtRest(Grpo):
    def loss(self, batch: Any, parts: int = 1, step_tokens: Any = None) -> Any:
        return super().loss(batch, parts, step_tokens) - 0.1 * (self.logprobs(batch) * batch["loss_mask"]).mean()


class _ByPlace(Grpo):
    def by_token(self, advantages: Any, ratio: Any) -> Any:
        del ratio
        return (advantages * torch.linspace(0.2, 1.8, len(advantages)))[:, None]


class _RowsByPlace(Grpo):
    def advantages(self, rewards: Any, group: Any) -> Any:
        return super().advantages(rewards, torch.arange(len(rewards)) // (len(rewards) // len(group.unique())))


class _OtherTrace(Ppo):
    def settings(self) -> Any:
        return {**super().settings(), "gae_lambda": 0.5}


OTHERS: dict[str, Any] = {
    "logprob-not-log-softmax": _OtherLogProbs,
    "old-logprobs-carry-gradient": _OldWithGraph,
    "zero-advantage-moves-tokens": _PullsAtRest,
    "row-order-changes-loss": _ByPlace,
    "row-order-changes-advantage": _RowsByPlace,
    "token-gae-differs": _OtherTrace,
    "doubled-rows-change-loss": type("SaysSequence", (_Sum,), {"normalisation": "sequence"}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_faults_fire_their_check(name: str) -> None:
    assert isinstance(looked(name, pieces_of(OTHERS[name])), Symptom)


def test_every_check_of_the_family_has_a_case_that_fires() -> None:
    assert {c.name for c in checks_of("tokens")} == set(FIRES.values()) | set(OTHERS)


# ---- what is missing is said -----------------------------------------------------------------------------------------


def test_a_batch_without_its_columns_is_a_skip_that_names_them() -> None:
    pieces = pieces_of()
    bare = {k: v for k, v in Grpo(seed=0).batch().items() if k in ("input_ids", "attention_mask", "loss_mask")}
    found = looked("loss-mask-shifted", replace(pieces, batch=lambda: bare))
    assert isinstance(found, Skip)
    assert found.unlock_with == ("batch['advantages']",)


def test_too_few_rows_are_a_skip() -> None:
    pieces = pieces_of()
    batch = {k: v[:2] for k, v in Grpo(seed=0).batch().items()}
    found = looked("loss-mask-shifted", replace(pieces, batch=lambda: batch))
    assert isinstance(found, Skip)
    assert "4 are needed" in found.reason


def test_a_loss_that_does_not_call_the_model_cannot_be_looked_at() -> None:
    found = looked("loss-mask-shifted", replace(pieces_of(), loss=lambda batch: torch.zeros(())))
    assert isinstance(found, Skip)
    assert "pieces.model" in found.unlock_with


def test_a_check_that_concerns_ppo_only_says_so_without_asking_for_more() -> None:
    found = looked("gae-crosses-rows", pieces_of())
    assert found == Skip("does not concern GRPO")


def test_the_message_of_a_cause_comes_before_its_consequences() -> None:
    seen = inspect_tokens(token_mutants.logits_not_shifted(seed=0))
    assert seen.verdict is Verdict.BROKEN
    assert seen.first_break is not None
    assert seen.first_break.name == "logits-score-wrong-token"
    assert any(f.consequence_of for f in seen.findings)
    assert all(f.severity is not Severity.INFO for f in seen.findings)
