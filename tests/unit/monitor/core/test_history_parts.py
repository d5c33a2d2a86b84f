"""Metrics that a framework logs in parts are made while the run goes, as they are made of its log afterwards."""

from __future__ import annotations

from firstbreak.loading import load
from firstbreak.monitor.history import History

AREAL = {
    "ppo_actor/task_reward/avg": 0.5,
    "ppo_actor/update/actor_loss/avg": 0.1,
    "ppo_actor/seq_len/avg": 700.0,
    "ppo_actor/prompt_len/avg": 200.0,
    "ppo_actor/correct_n_seqs": 32.0,
    "ppo_actor/n_seqs": 128.0,
}


def history(rows: int, **more: float) -> History:
    made = History("run")
    row = {**AREAL, **more}
    for step in range(rows):
        values = [value + step if key.endswith("correct_n_seqs") else value for key, value in row.items()]
        made.add(tuple(row), values, float(step), 0.0)
    return made


def test_live_and_afterwards_are_alike() -> None:
    live = history(4).log()
    columns = {key: [(i, v + i if key.endswith("correct_n_seqs") else v) for i in range(4)] for key, v in AREAL.items()}
    after = load(columns)
    assert live.framework == after.framework == "areal"
    for metric in ("reward/success_rate", "seq/len_mean"):
        now, then = live.get(metric), after.get(metric)
        assert now is not None
        assert then is not None
        assert (now.step.tolist(), now.value.tolist()) == (then.step.tolist(), then.value.tolist())
        assert now.source_key == then.source_key


def test_a_rule_that_wants_the_metric_is_asked_when_a_part_comes() -> None:
    made = history(2)
    made.log()
    assert "reward/success_rate" in made.metrics_of(["ppo_actor/correct_n_seqs"])
    assert {"seq/len_mean", "seq/total_len_mean"} <= made.metrics_of(["ppo_actor/seq_len/avg"])
    assert made.meant(["ppo_actor/correct_n_seqs"]) == ["ppo_actor/correct_n_seqs"]


def test_without_its_other_part_a_count_means_nothing() -> None:
    made = History("run")
    row = {key: value for key, value in AREAL.items() if not key.endswith("/n_seqs")}
    for step in range(3):
        made.add(tuple(row), list(row.values()), float(step), 0.0)
    log = made.log()
    assert log.get("reward/success_rate") is None
    assert "ppo_actor/correct_n_seqs" in log.unmapped
    assert made.meant(["ppo_actor/correct_n_seqs"]) == []
