"""TRL's PPO through the token invariants: as it is, and with bugs planted in what its `train()` asks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from trl.experimental.ppo import ppo_trainer

from firstbreak.diagnosis import Verdict
from firstbreak.preflight.tokens.adapters.trl_ppo import Ppo
from firstbreak.preflight.tokens.adapters.trl_ppo_loop import CHANGED, up_to_the_gradient
from firstbreak.preflight.tokens.api import inspect_tokens
from firstbreak.preflight.tokens.subjects import token_pieces
from firstbreak.probes.tokens.adapters.trl_ppo import built, train
from firstbreak.probes.tokens.model import Policy
from firstbreak.probes.tokens.rungs import token_rungs
from firstbreak.probes.tokens.task import LETTERS, TokenTask

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
Patch = Callable[[pytest.MonkeyPatch, Any], None]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def ppo(folder: Path, seed: int = 0, **settings: Any) -> Any:
    task = TokenTask("a look", lambda _, completion: float(LETTERS[0] in completion), 6, seed=seed)
    return built(task, folder, steps=4, seed=seed, beta=0.05, **settings)


@pytest.fixture
def trainer(tmp_path: Path) -> Any:
    return ppo(tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"seed": 1, "temperature": 0.7, "kl_estimator": "k3", "whiten_rewards": True, "cliprange": 0.1, "lam": 0.9},
        {"seed": 2, "gamma": 0.9, "missing_eos_penalty": 1.0, "per_device_train_batch_size": 8, "num_mini_batches": 2,
         "gradient_accumulation_steps": 4},
    ],
)  # fmt: skip
def test_trl_ppo_as_it_is_passes(tmp_path: Path, settings: dict[str, Any]):
    seen = inspect_tokens(ppo(tmp_path, **settings))
    assert [(f.name, f.message) for f in seen.findings if not f.ignored] == []
    assert seen.errors == ()
    assert seen.verdict is Verdict.HEALTHY
    assert len(seen.clear) >= 30


def pad_is_end(patch: pytest.MonkeyPatch, trainer: Any) -> None:
    trainer.processing_class.pad_token = trainer.processing_class.eos_token


def whitens_padding(patch: pytest.MonkeyPatch, trainer: Any) -> None:
    patch.setattr(ppo_trainer, "masked_whiten", lambda x, mask, shift_mean=True: (x - x.mean()) / (x.std() + 1e-8))


def value_one_late(patch: pytest.MonkeyPatch, trainer: Any) -> None:
    usual = ppo_trainer.forward

    def forward(model: Any, ids: Any, pad: int) -> Any:
        found = usual(model, ids, pad)
        return (found[0], torch.roll(found[1], -1, 1)) if isinstance(found, tuple) else found

    patch.setattr(ppo_trainer, "forward", forward)


def attends_to_padding(patch: pytest.MonkeyPatch, trainer: Any) -> None:
    def forward(model: Any, ids: Any, pad: int) -> Any:
        return model(input_ids=ids, attention_mask=torch.ones_like(ids), return_dict=True, output_hidden_states=True)

    patch.setattr(ppo_trainer, "forward", forward)


def generates_untempered(patch: pytest.MonkeyPatch, trainer: Any) -> None:
    usual = ppo_trainer.batch_generation

    def batch_generation(*args: Any) -> Any:
        ids, logits = usual(*args)
        return ids, logits * 0.5

    patch.setattr(ppo_trainer, "batch_generation", batch_generation)


def reference_is_policy(patch: pytest.MonkeyPatch, trainer: Any) -> None:
    trainer.ref_model = trainer.policy_model


def reference_is_another(patch: pytest.MonkeyPatch, trainer: Any) -> None:
    with torch.no_grad():
        for weight in trainer.ref_model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))


def kl_is_paid(patch: pytest.MonkeyPatch, trainer: Any) -> None:
    trainer.args.kl_coef = -0.05


def dropout_stays_on(patch: pytest.MonkeyPatch, trainer: Any) -> None:
    for layer in trainer.policy_model.model.layers:
        layer.self_attn.attention_dropout = 0.5


@pytest.mark.parametrize(
    ("plant", "name"),
    [
        (pad_is_end, "end-token-untrained"),
        (whitens_padding, "whitening-counts-padding"),
        (value_one_late, "value-knows-its-token"),
        (attends_to_padding, "padding-changes-loss"),
        (generates_untempered, "token-ratio-not-one-at-start"),
        (reference_is_policy, "reference-is-the-policy"),
        (reference_is_another, "reference-kl-not-zero-at-start"),
        (kl_is_paid, "kl-penalty-rewards-drift"),
        (dropout_stays_on, "policy-random-in-loss"),
    ],
)
def test_planted_bugs_are_named(trainer: Any, monkeypatch: pytest.MonkeyPatch, plant: Patch, name: str):
    plant(monkeypatch, trainer)
    seen = inspect_tokens(trainer)
    assert seen.verdict is Verdict.BROKEN
    own = [f.name for f in seen.findings if f.consequence_of is None]
    assert own[:1] == [name], [(f.name, f.message) for f in seen.findings]


def test_a_look_leaves_the_trainer_as_it_was(trainer: Any):
    pieces = Ppo(trainer).pieces()
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    settings = {name: getattr(trainer.args, name) for name in CHANGED}
    parts = (trainer.dataloader, trainer.callback_handler, trainer.control, trainer.state, trainer.accelerator.step)
    functions = {name: getattr(ppo_trainer, name) for name in ("batch_generation", "masked_whiten", "get_reward", "np")}
    batch = pieces.batch()
    sum(pieces.loss(batch).values()).backward()
    assert all(torch.equal(a, b) for a, b in zip(before, trainer.model.parameters(), strict=True))
    assert settings == {name: getattr(trainer.args, name) for name in CHANGED}
    now = (trainer.dataloader, trainer.callback_handler, trainer.control, trainer.state, trainer.accelerator.step)
    assert all(a is b for a, b in zip(parts, now, strict=True))
    assert functions == {name: getattr(ppo_trainer, name) for name in functions}
    assert "backward" not in vars(trainer.accelerator)
    trainer.train()
    assert trainer.state.global_step == 4


def test_the_loss_of_the_batch_is_that_of_the_loop(trainer: Any):
    torch.manual_seed(0)
    found = up_to_the_gradient(trainer, {})
    torch.manual_seed(0)
    pieces = Ppo(trainer).pieces()
    terms = pieces.loss(pieces.batch())
    assert float(sum(terms.values())) == pytest.approx(float(found["loss"]), rel=1e-4)
    assert float(terms["value"]) == pytest.approx(trainer.args.vf_coef * float(found["vf_loss"]), rel=1e-4)


def test_gae_and_rewards_fold_the_column_after_the_last_token(trainer: Any):
    pieces = Ppo(trainer).pieces()
    mask = torch.tensor([[0, 1, 1, 1, 0, 0], [0, 1, 1, 1, 1, 1.0]])
    rewards, values = torch.zeros(2, 6), torch.zeros(2, 6)
    rewards[:, 3] = 1.0
    raw, targets = pieces.gae(rewards, values, mask)
    lam = trainer.args.gamma * trainer.args.lam
    assert raw[0, 1:4].tolist() == pytest.approx([lam**2, lam, 1.0])
    assert torch.equal(raw, targets)
    batch = pieces.batch()
    paid = pieces.token_rewards(torch.full((len(batch["input_ids"]),), 5.0), batch)
    none = pieces.token_rewards(torch.zeros(len(batch["input_ids"])), batch)
    last = batch["loss_mask"].sum(1) + batch["start"] - 1
    where = (paid - none).abs() > 1e-4
    assert where.sum(1).tolist() == [1] * len(where)
    assert where.int().argmax(1).tolist() == last.tolist()


def test_it_learns_a_rung_of_the_ladder():
    rung = token_rungs()["one-token"]
    task = rung.task()
    trained = Policy(train(task, steps=40, seed=0), task.end_id, task.vocabulary)
    assert rung.state(rung.read(trained, Policy(task.model(0), task.end_id, task.vocabulary), task)) == "right"


def test_the_command_takes_it_by_name():
    assert token_pieces("trl:PPO").algorithm == "PPO"
