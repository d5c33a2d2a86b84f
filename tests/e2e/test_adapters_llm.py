"""The adapters of TRL and transformers in real trainings of a tiny local model; the examples as they stand."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from examples.tiny_language_model import FAULTS, LETTERS, grpo, tiny_model, toy_prompts
from firstbreak.monitor.adapters import trl
from firstbreak.monitor.checkpoints import Checkpoints
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Action, Verdict
from tests.e2e.scripted_monitor import Scripted, history

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]
ROOT = Path(__file__).parents[2]
REUSED: dict[str, Any] = {"num_iterations": 2, "steps_per_generation": 2, "per_device_train_batch_size": 32}


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def weights(trainer: Any) -> list[torch.Tensor]:
    return [weight.detach().clone() for weight in trainer.model.parameters()]


def same(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> bool:
    return all(map(torch.equal, one, other))


@pytest.mark.parametrize("settings", [{}, REUSED, {"beta": 0.05, "gradient_accumulation_steps": 2}])
def test_a_watched_run_is_the_same_run_and_the_row_is_trls_own(tmp_path: Path, settings: dict[str, Any]) -> None:
    plain = grpo(tmp_path / "plain", steps=6, **settings)
    plain.train()
    watched, monitor = grpo(tmp_path / "watched", steps=6, **settings), Scripted()
    trl.watch(watched, monitor)
    watched.train()
    assert same(weights(plain), weights(watched))
    assert monitor.faults == []
    assert [step for step, _ in monitor.seen] == [row["step"] for row in history(watched)] == [1, 2, 3, 4, 5, 6]
    for logged, (_, row) in zip(history(watched), monitor.seen, strict=True):
        for key, value in logged.items():
            if key not in ("step", "epoch"):
                assert row[key] == pytest.approx(value, rel=1e-5, abs=1e-8), key
    assert {"advantage/std", "group/reward_std_mean"} <= monitor.seen[0][1].keys()


def test_every_update_is_seen_though_trl_logs_every_third(tmp_path: Path) -> None:
    trainer, monitor = grpo(tmp_path, steps=6, logging_steps=3, **REUSED), Scripted()
    trl.watch(trainer, monitor)
    trainer.train()
    assert [step for step, _ in monitor.seen] == [1, 2, 3, 4, 5, 6]
    rows = [row for _, row in monitor.seen]
    logged = history(trainer)[0]
    assert logged["entropy"] == pytest.approx(sum(row["entropy"] for row in rows[:3]) / 3)
    assert ["reward" in row for row in rows] == [True, False, False, False, True, False]
    assert rows[0]["policy/ratio_first_minibatch"] == pytest.approx(1.0, abs=1e-4)
    assert rows[0]["policy/kl_old"] == pytest.approx(0.0, abs=1e-6)
    assert rows[1]["policy/kl_old"] > 1e-4
    assert rows[1]["policy/ratio_max"] > 1.05


def test_a_stopped_update_leaves_the_weights_and_so_does_the_rest_of_its_batch(tmp_path: Path) -> None:
    trainer, monitor = grpo(tmp_path, steps=8, **REUSED), Scripted({2: Action.STOP_UPDATE})
    after: dict[int, list[torch.Tensor]] = {}

    from transformers import TrainerCallback

    class Keep(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            after[state.global_step] = weights(trainer)

    found = trl.watch(trainer, monitor)
    trainer.add_callback(Keep())
    trainer.train()
    assert found.dropped == [2, 3, 4]
    assert [same(after[i], after[i + 1]) for i in range(1, 8)] == [True, True, True, False, False, False, False]
    assert trainer.state.global_step == 8


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_faults_can_be_switched_on_mid_run(tmp_path: Path, fault: str) -> None:
    twin = grpo(tmp_path / "twin", steps=6)
    twin.train()
    broken = grpo(tmp_path / "broken", steps=6, fault=fault, fault_at=3)
    broken.train()
    one, other = history(twin), history(broken)
    keys = ("reward", "completions/mean_length", "learning_rate", "loss")
    assert all(one[i][key] == other[i][key] for i in range(3) for key in keys)
    assert any(one[i][key] != other[i][key] for i in range(3, 6) for key in keys)


def test_a_hundredfold_learning_rate_ends_the_run_when_asked(tmp_path: Path) -> None:
    trainer = grpo(tmp_path, steps=80, fault="learning_rate_x100", fault_at=20, logging_steps=50)
    with Monitor(algorithm="GRPO", framework="trl", act={"*": "stop_training"}) as monitor:
        found = trl.watch(trainer, monitor)
        trainer.train()
    assert monitor.faults == []
    assert 20 < trainer.state.global_step < 80
    assert found.dropped == [trainer.state.global_step]
    assert monitor.alarms[0].finding.onset.hi > 20
    assert monitor.alarms[0].finding.onset.clock == "updates"


def test_a_hundredfold_learning_rate_is_undone_by_going_back(tmp_path: Path) -> None:
    trainer = grpo(tmp_path, steps=70, fault="learning_rate_x100", fault_at=20, save_strategy="steps", save_steps=10)
    monitor = Monitor(algorithm="GRPO", framework="trl", act={"*": "roll_back"})
    trl.watch(trainer, monitor)
    trainer.train()
    assert monitor.faults == []
    rolled = [event for event in monitor.run_log().events if event.name == "roll_back"]
    # The rate is first seen at update 21, so that the break lies after 20 or at it, by the rule that says so first.
    assert [event.at for event in rolled] in ([10.0], [20.0])
    assert trainer.state.global_step == 70
    rates = [row["learning_rate"] for row in history(trainer)]
    assert (rates[19], max(rates), rates[-1]) == (3e-3, pytest.approx(0.3), 3e-3)
    assert history(trainer)[-1]["entropy"] > 0.5


def test_going_back_to_the_monitors_own_store_restores_the_weights(tmp_path: Path) -> None:
    monitor = Scripted({5: Action.ROLL_BACK}, checkpoints=Checkpoints(tmp_path / "store"))
    trainer = grpo(tmp_path, steps=5, save_strategy="steps", save_steps=2)
    trl.watch(trainer, monitor)
    trainer.train()
    kept = monitor.checkpoints.load("last")["model"]
    assert same(list(kept.values()), [weight.cpu() for weight in trainer.model.state_dict().values()])
    failed = monitor.checkpoints.open("failed").batch
    assert len(failed["prompt"]) == len(failed["completion"]) == len(failed["advantages"]) >= 64
    assert monitor.faults == []
    assert trainer.state.global_step == 5


def test_without_a_checkpoint_to_go_back_to_the_run_ends(tmp_path: Path) -> None:
    trainer, monitor = grpo(tmp_path, steps=6), Scripted({3: Action.ROLL_BACK})
    trl.watch(trainer, monitor)
    trainer.train()
    assert trainer.state.global_step == 3
    assert any("no checkpoint" in fault for fault in monitor.faults)


def test_a_monitor_that_always_fails_changes_nothing(tmp_path: Path) -> None:
    class Broken(Monitor):
        def log(self, *args: Any, **kwargs: Any) -> Verdict:
            raise RuntimeError("a fault of the monitor")

        def configure(self, config: Any) -> None:
            raise RuntimeError("a fault of the monitor")

    plain = grpo(tmp_path / "plain", steps=3)
    plain.train()
    watched = grpo(tmp_path / "watched", steps=3)
    trl.watch(watched, Broken())
    watched.train()
    assert same(weights(plain), weights(watched))


def test_rloo_and_online_dpo_are_read_as_well(tmp_path: Path) -> None:
    from trl import RLOOConfig, RLOOTrainer
    from trl.experimental.online_dpo import OnlineDPOConfig, OnlineDPOTrainer

    def reward(completions: list[str], **_: Any) -> list[float]:
        return [text.count("a") / 8 for text in completions]

    model = tiny_model(tmp_path / "model")
    shared: dict[str, Any] = {
        "output_dir": str(tmp_path / "out"), "max_steps": 3, "logging_steps": 3, "report_to": [], "use_cpu": True,
        "save_strategy": "no", "bf16": False, "learning_rate": 3e-3,
    }  # fmt: skip
    rloo = RLOOTrainer(
        model, reward, RLOOConfig(per_device_train_batch_size=16, num_generations=4, max_completion_length=6,
                                  num_iterations=2, **shared), train_dataset=toy_prompts(),
    )  # fmt: skip
    seen = run(rloo)
    assert {"reward", "entropy", "grad_norm", "policy/ratio_mean", "group/reward_std_mean"} <= seen[0].keys()
    assert "policy/kl_old" not in seen[0]
    from transformers import AutoModelForCausalLM, AutoTokenizer

    dpo = OnlineDPOTrainer(
        AutoModelForCausalLM.from_pretrained(model), reward_funcs=reward,
        args=OnlineDPOConfig(per_device_train_batch_size=4, max_new_tokens=6, **shared),
        train_dataset=toy_prompts(), processing_class=AutoTokenizer.from_pretrained(model),
    )  # fmt: skip
    seen = run(dpo)
    assert {"objective/kl", "rewards/margins", "val/contain_eos_token", "grad_norm", "loss"} <= seen[0].keys()


def run(trainer: Any) -> list[dict[str, Any]]:
    monitor = Scripted()
    trl.watch(trainer, monitor)
    trainer.train()
    assert monitor.faults == []
    assert [step for step, _ in monitor.seen] == [1, 2, 3]
    return [row for _, row in monitor.seen]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("monitor_trl_grpo", "roll_back"),
        ("monitor_trl_rloo", "left out: [23]"),
        ("monitor_trl_online_dpo", "ended after update 33: learning rate jumps"),
        ("monitor_transformers", "ended after update 21"),
        ("monitor_verl", "stopped: "),
        ("monitor_areal", "stopped: "),
    ],
)
def test_the_example_does_what_it_says(name: str, says: str, tmp_path: Path) -> None:
    path = ROOT / "examples" / f"{name}.py"
    assert len(path.read_text().splitlines()) <= 40
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert says in done.stdout + done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_tiny_model_learns_its_task(tmp_path: Path) -> None:
    trainer = grpo(tmp_path, steps=100)
    trainer.train()
    accuracy = [row["rewards/true_accuracy/mean"] for row in history(trainer)]
    assert sum(accuracy[:5]) / 5 < 2 / len(LETTERS)
    assert sum(accuracy[-5:]) / 5 > 0.5
