"""Writes `verl.jsonl` and `areal.jsonl`: 80 steps each, made up from the documented keys. See README.md."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

HERE = Path(__file__).parent
STEPS, BREAK = 80, 40
"""From step `BREAK` on the responses become one and the same: entropy, rewards and gradient go."""


def course(step: int, rng: random.Random) -> dict[str, float]:
    """The quantities of one step: learning until `BREAK`, then collapsing."""
    late = max(0, step - BREAK)
    noise = rng.gauss
    reward = 0.2 + 0.5 * (1 - math.exp(-min(step, BREAK) / 25)) + noise(0, 0.02)
    return {
        "reward": max(0.02, reward * math.exp(-late / 6)),
        "entropy": max(1e-4, (0.9 - 0.006 * min(step, BREAK) + noise(0, 0.015)) * math.exp(-late / 3)),
        "kl": abs(0.001 * min(step, BREAK) / BREAK + 0.05 * (1 - math.exp(-late / 4)) + noise(0, 1e-4)),
        "grad": abs((0.25 + noise(0, 0.03)) * (math.exp(-late / 8) if late else 1)),
        "clip": abs(0.002 + noise(0, 5e-4)),
        "ratio": 1 + noise(0, 2e-4),
        "length": max(4.0, (420 + 2 * min(step, BREAK) + noise(0, 12)) * math.exp(-late / 10)),
        "cut": min(1.0, abs(0.01 + noise(0, 0.003))),
        "spread": 1.7 * math.exp(-late / 5) + abs(noise(0, 0.02)),
        "time": 40 + abs(noise(0, 2)),
    }


def verl(step: int, q: dict[str, float]) -> dict[str, float]:
    return {
        "actor/entropy": q["entropy"], "actor/pg_loss": 0.01 * q["spread"] * (-1) ** step, "actor/lr": 1e-6,
        "actor/pg_clipfrac": q["clip"], "actor/ppo_kl": q["kl"] / 10, "actor/kl_loss": q["kl"], "actor/kl_coef": 0.001,
        "actor/grad_norm": q["grad"], "critic/score/mean": q["reward"], "critic/score/max": 1.0,
        "critic/score/min": 0.0, "critic/rewards/mean": q["reward"], "critic/advantages/mean": -0.001,
        "critic/advantages/max": q["spread"], "critic/advantages/min": -q["spread"],
        "response_length/mean": q["length"], "response_length/max": 1024.0, "response_length/min": q["length"] / 9,
        "response_length/clip_ratio": q["cut"], "prompt_length/mean": 94.4, "timing_s/gen": 0.6 * q["time"],
        "timing_s/update_actor": 0.3 * q["time"], "timing_s/step": q["time"], "perf/throughput": 9000 / q["time"],
        "training/global_step": float(step), "training/epoch": step // 58,
    }  # fmt: skip


def areal(step: int, q: dict[str, float]) -> dict[str, float]:
    actor = "ppo_actor/update"
    return {
        "rollout/reward": q["reward"], "ppo_actor/task_reward/avg": q["reward"], "ppo_actor/task_reward/min": 0.0,
        "ppo_actor/task_reward/max": 1.0, "ppo_actor/task_reward__count": 256.0, "ppo_actor/n_seqs": 256.0,
        "ppo_actor/advantages/avg": -0.001, "ppo_actor/advantages/max": q["spread"], f"{actor}/lr": 1.7e-5,
        "ppo_actor/advantages/min": -q["spread"], "ppo_actor/no_eos_ratios/avg": q["cut"],
        "ppo_actor/seq_len/avg": q["length"] + 94, "ppo_actor/prompt_len/avg": 94.0, f"{actor}/grad_norm": q["grad"],
        f"{actor}/update_successful": 1.0, f"{actor}/importance_weight/avg": q["ratio"],
        f"{actor}/importance_weight/max": 1.3, f"{actor}/importance_weight/min": 0.7,
        f"{actor}/entropy/avg": q["entropy"],
        f"{actor}/approx_kl/avg": -q["kl"] / 10, f"{actor}/clip_ratio/avg": q["clip"],
        f"{actor}/behave_imp_weight/avg": q["ratio"], f"{actor}/version_stats/sample_staleness_theta_avg": 1.0,
        f"{actor}/actor_loss/avg": 0.01 * q["spread"] * (-1) ** step, "timeperf/rollout": 0.6 * q["time"],
        "timeperf/train_step": 0.3 * q["time"], "timeperf/update_weights": 1.2,
    }  # fmt: skip


def main() -> None:
    for name, make in (("verl", verl), ("areal", areal)):
        rng = random.Random(7)
        rows = [make(step, course(step, rng)) for step in range(1, STEPS + 1)]
        lines = [json.dumps({k: round(v, 8) for k, v in row.items()}) for row in rows]
        (HERE / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
