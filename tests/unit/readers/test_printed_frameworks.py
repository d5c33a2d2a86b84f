"""AReaL's printed tables and slime's printed dictionaries: the only records of such runs where no tracker is set."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.errors import InputError
from firstbreak.loading import load
from firstbreak.runlog import RunLog


def table(row: dict[str, float | str], columns: int = 4) -> str:
    """Draw `row` as AReaL does (tabulate's fancy_grid, filled column by column)."""
    items = [(key, value if isinstance(value, str) else f"{value:.4e}") for key, value in row.items()]
    lines = -(-len(items) // columns)
    wide = max(len(word) for item in items for word in item)
    drawn = ["╒" + "═" * 9 + "╕"]
    for i in range(lines):
        cells = [word for j in range(columns) for word in (items[i + j * lines : i + j * lines + 1] or [("", "")])[0]]
        drawn += ["│" + "│".join(f" {cell:<{wide}} " for cell in cells) + "│", "├" + "─" * 9 + "┤"]
    return "\n".join([*drawn[:-1], "╘" + "═" * 9 + "╛"])


def areal(steps: int, prefix: str = "", **more: float | str) -> str:
    """What AReaL prints in `steps` steps."""
    text = ""
    for step in range(1, steps + 1):
        row = {
            "ppo_actor/task_reward/avg": 0.4 + step / 100,
            "ppo_actor/update/actor_loss/avg": -0.01,
            "ppo_actor/update/grad_norm": 0.3,
            "ppo_actor/correct_n_seqs": 32 + step,
            "ppo_actor/n_seqs": 128,
            **more,
        }
        text += f"\x1b[32m20260521-10:00 StatsLogger INFO: Epoch 1/10 Step {step}/9 Train step {step}/90 done.\x1b[0m\n"
        text += f"20260521-10:00 StatsLogger INFO: Stats (1/1):\n20260521-10:00 StatsLogger INFO: \n{table(row)}\n"
    return "".join(prefix + line for line in text.splitlines(keepends=True))


def read(tmp_path: Path, text: str) -> RunLog:
    path = tmp_path / "main.log"
    path.write_text(text, "utf-8")
    return load(path)


def values(log: RunLog, metric: str) -> list[float]:
    series = log.get(metric)
    assert series is not None, metric
    return series.value.tolist()


@pytest.mark.parametrize("prefix", ["", "[actor 0] "])
def test_areals_tables_are_rows_of_the_step_before_them(tmp_path: Path, prefix: str) -> None:
    log = read(tmp_path, "some banner\n" + areal(3, prefix))
    assert (log.framework, log.clock) == ("areal", "updates")
    assert values(log, "reward/train_mean") == pytest.approx([0.41, 0.42, 0.43])
    reward = log.get("reward/train_mean")
    assert reward is not None
    assert reward.step.tolist() == [1, 2, 3]
    assert values(log, "reward/success_rate") == pytest.approx([33 / 128, 34 / 128, 35 / 128])


def test_a_table_that_is_cut_off_gives_what_is_there(tmp_path: Path) -> None:
    whole = areal(3)
    log = read(tmp_path, whole[: whole.rindex("├")])
    assert values(log, "reward/train_mean") == pytest.approx([0.41, 0.42, 0.43])


def test_words_and_markup_in_a_table_are_no_numbers(tmp_path: Path) -> None:
    log = read(tmp_path, areal(3, **{"ppo_actor/odd": "<script>", "ppo_actor/update/entropy/avg": "nan"}))
    assert "ppo_actor/odd" not in log.unmapped
    entropy = log.get("policy/entropy")
    assert entropy is not None
    assert entropy.value.size == 3
    assert all(map(math.isnan, entropy.value))


def test_a_table_of_somebody_else_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read(tmp_path, "Results of the search\n" + table({"a": 1.0, "b": 2.0}))


def slime(rollouts: int, updates: int = 1) -> str:
    """What slime prints."""
    text = ""
    for k in range(rollouts):
        text += f"(RolloutManager pid=1) [2026-05-01] rollout.py:7 - perf {k}: {{'perf/rollout_time': 20.5}}\n"
        text += (
            f"(Actor pid=2) data.py:77 - rollout {k}: {{'rollout/raw_reward': {0.3 + k / 100}, "
            "'rollout/response_lengths': 400.0, 'rollout/log_probs': np.float64(-0.5)}\n"
        )
        for i in range(updates):
            text += (
                f"(Actor pid=2) model.py:9 - step {k * updates + i}: {{'train/pg_loss': {i / 10}, 'train/ppo_kl': 0.0, "
                "'train/grad_norm': nan, 'train/entropy_loss': tensor(0.5, device='cuda:0'), 'train/lr-pg_0': 1e-06}\n"
            )
    return text


def test_slimes_dictionaries_are_rows_of_their_rollout(tmp_path: Path) -> None:
    log = read(tmp_path, slime(4, updates=2))
    assert log.framework == "slime"
    assert values(log, "reward/train_mean") == pytest.approx([0.3, 0.31, 0.32, 0.33])
    assert values(log, "policy/logprob_mean") == [-0.5] * 4
    assert values(log, "policy/entropy") == [0.5] * 4
    loss = log.get("policy/loss")
    assert loss is not None
    assert loss.step.tolist() == [0, 1, 2, 3]
    assert loss.value.tolist() == [0.1] * 4, "of several updates on one rollout the last counts"
    assert all(math.isnan(value) for value in values(log, "optim/grad_norm"))


@pytest.mark.parametrize(
    "line",
    [
        "step 3: {'note': 'hello', 'seed': 4}",
        "rollout 3: {'rollout/raw_reward': __import__('os').system('false')}",
        "rollout 3: {'rollout/raw_reward': 'high'}",
        "rollout 3: {'rollout/raw_reward': 0.1",
        "rollout 3: {" + "'rollout/a': 1, " * 10_000 + "}",
    ],
)
def test_what_is_no_row_of_slimes_is_left_alone(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError):
        read(tmp_path, f"{line}\n" * 5)


def test_the_log_that_llamafactory_writes_counts_its_steps(tmp_path: Path) -> None:
    rows = [
        {"current_steps": 10 * i, "total_steps": 400, "loss": 0.1, "reward": i / 10, "lr": 1e-6, "epoch": i / 40,
         "percentage": 2.5 * i, "elapsed_time": "0:00:10", "remaining_time": "0:10:00", "throughput": 1234.5}
        for i in range(1, 7)
    ]  # fmt: skip
    path = tmp_path / "trainer_log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    log = load(path)
    assert (log.framework, log.algorithm, log.clock) == ("llamafactory", "RLHF-PPO", "updates")
    reward = log.get("reward/train_mean")
    assert reward is not None
    assert reward.step.tolist() == [10, 20, 30, 40, 50, 60]


def test_what_prime_rl_prints_is_known_for_its_own(tmp_path: Path) -> None:
    head = "12:00:01 SUCCESS Step {} |     12s | Reward {} | Trainable 500/512 (97.7%) | Turns 1.5 | Branches 1.0 | "
    text = "".join(
        (head + "Max Off-Policy 2 | Error 1.0% | Cancelled 0.0% | Truncation 3.0%\n").format(step, 0.3 + step / 100)
        for step in range(4)
    )
    log = read(tmp_path, text)
    assert log.framework == "prime_rl"
    assert values(log, "reward/train_mean") == pytest.approx([0.3, 0.31, 0.32, 0.33])
    assert values(log, "seq/truncated_fraction") == pytest.approx([0.03] * 4)
    assert values(log, "async/staleness_max") == [2] * 4
    assert log.get("reward/episode_return_mean") is None


def test_what_prime_rls_trainer_prints_is_no_log_of_control(tmp_path: Path) -> None:
    first = "12:00:01 SUCCESS Step {} |   1m 2s | Loss 0.01 | Entropy 0.5 | Mismatch KL 0.001 | Grad. Norm 0.2 | "
    line = first + "LR 1.00e-06 | Throughput 12345 tokens/s | MFU 12.3% | Peak Mem. 40.1 GiB\n"
    text = "".join(line.format(step) for step in range(20))
    log = read(tmp_path, text)
    assert (log.framework, values(log, "policy/entropy")[0]) == ("prime_rl", 0.5)
    assert "episode-statistics-missing" not in {f.name for f in diagnose_log(log, Settings()).findings}
