"""Each dump as its framework lays it out, written by hand from the layout, is told and read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firstbreak.audit.reading.api import read_samples
from firstbreak.audit.reading.protocol import all_dumps
from firstbreak.audit.reading.report import ReadReport
from firstbreak.audit.sample import Sample
from firstbreak.errors import InputError


def written(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, **options: Any) -> tuple[list[Sample], ReadReport]:
    report = ReadReport()
    return list(read_samples(path, report=report, **options)), report


def test_verl_rollouts_take_their_step_from_the_name_and_their_group_from_the_input(tmp_path: Path) -> None:
    rows = [
        {"input": "user\n2+2?", "output": "4", "gts": "4", "score": 1.0, "step": 7, "acc": True, "request_id": "a"},
        {"input": "user\n2+2?", "output": "5", "gts": "4", "score": 0.0, "step": 7, "acc": False, "request_id": "b"},
        {"input": "user\n3+3?", "output": "6", "gts": "6", "score": 1.0, "step": 7, "acc": True, "request_id": "c"},
    ]
    written(tmp_path / "rollouts" / "7.jsonl", *rows)
    written(tmp_path / "rollouts" / "10.jsonl", *({k: v for k, v in r.items() if k != "step"} for r in rows))
    samples, report = read(tmp_path)
    assert dict(report.formats) == {"verl": 2}
    assert [s.step for s in samples] == [7, 7, 7, 10, 10, 10]
    assert [s.reward for s in samples[:3]] == [1, 0, 1]
    assert samples[0].group == samples[1].group != samples[2].group
    assert samples[0].answer == "4"
    assert samples[0].scores == {"acc": 1.0}
    assert samples[0].source == "rollouts/7.jsonl"


def test_areal_rollouts_hold_the_span_of_versions(tmp_path: Path) -> None:
    row = {"task_id": 31, "sample_idx": 0, "seqlen": 90, "prompt_len": 40, "head_version": 3, "tail_version": 5,
           "reward": 1.0, "prompt": "Q", "completion": "A"}  # fmt: skip
    written(tmp_path / "rollout" / "5" / "31.jsonl", row, {**row, "sample_idx": 1, "reward": 0.0})
    written(tmp_path / "eval-rollout" / "5" / "32.jsonl", {**row, "task_id": 32})
    samples, report = read(tmp_path)
    assert dict(report.formats) == {"areal": 2}
    assert [s.category for s in samples] == ["eval-rollout", "rollout", "rollout"]
    one = samples[1]
    assert (one.prompt, one.response, one.reward, one.versions) == ("Q", "A", 1.0, (3, 5))
    assert (one.length_tokens, one.step, one.group) == (50, 5, "5/31")


def node(role: str, content: str, parent: int | None, ids: list[int], *, sampled: bool, **message: Any) -> Any:
    logprobs = [-0.5] * len(ids) if sampled else []
    return {"parent": parent, "message": {"role": role, "content": content, **message}, "sampled": sampled,
            "token_ids": ids, "mask": [sampled] * len(ids), "logprobs": logprobs}  # fmt: skip


EPISODE = {
    "id": "e1", "env": {"id": "gsm8k", "name": "maths"}, "task": {"type": "T", "data": {"idx": 3, "answer": "4"}},
    "group": {"id": "g9"}, "ok": True, "errors": [],
    "run": {"type": "train", "id": "r", "work": {"type": "train", "step": 4, "policy": {"start": 2, "end": 3}}},
    "traces": [{
        "id": "t1", "task": {"type": "T", "data": {"idx": 3, "answer": "4"}}, "agent": {"name": "solver"},
        "nodes": [
            node("user", "2+2?", None, [1, 2], sampled=False),
            node("assistant", "let me see", 0, [3, 4], sampled=True,
                 tool_calls=[{"id": "c1", "name": "calc", "arguments": "{\"e\": \"2+2\"}"}]),
            node("tool", "4", 1, [5], sampled=False, tool_call_id="c1"),
            node("assistant", "it is 4", 2, [6, 7], sampled=True),
        ],
        "calls": [{"finish_reason": "tool_calls"}, {"finish_reason": "stop"}],
        "rewards": {"right": {"score": 1.0, "weight": 1.0}, "format": {"score": 0.5, "weight": 0.2}, "judge": None},
        "metrics": {"turns": 2}, "stop_condition": "agent_completed", "is_completed": True, "ok": True, "errors": [],
    }],
}  # fmt: skip


def test_prime_rl_traces_walk_the_graph_of_messages(tmp_path: Path) -> None:
    folder = tmp_path / "rollouts" / "step_4" / "train"
    written(folder / "all" / "traces.jsonl", EPISODE, {**EPISODE, "id": "e2", "ok": False, "traces": []})
    written(folder / "effective" / "traces.jsonl", EPISODE)
    written(tmp_path / "metrics.jsonl", {"step": 1, "time": 2.0, "reward/mean": 0.5})
    samples, report = read(tmp_path)
    (one,) = samples
    assert report.unreadable == 1
    assert sum(report.left.values()) == 2
    assert one.reward == pytest.approx(1.1)
    assert one.scores["reward.right"] == 1.0
    assert one.scores["metrics.turns"] == 2
    assert (one.prompt, one.response) == ("2+2?", "let me see\nit is 4")
    assert (one.group, one.step, one.versions, one.answer) == ("4/g9", 4, (2, 3), "4")
    assert one.turns[1].calls[0].name == "calc"
    assert one.turns[1].calls[0].result == "4"
    assert one.tokens is not None
    assert one.tokens.ids == (1, 2, 3, 4, 5, 6, 7)
    assert one.tokens.start == 2
    assert one.tokens.loss_mask == (0, 0, 1, 1, 0, 1, 1)
    assert one.tokens.logprobs == (-0.5, -0.5, 0.0, -0.5, -0.5)
    assert one.category == "maths"
    assert one.truncated is False


def test_nemo_rl_lines_are_batches_of_one_with_padding(tmp_path: Path) -> None:
    row = {"content": [["2+2?", "4"]], "rewards": [1.0], "input_lengths": [4], "token_ids": [[5, 6, 7, 8, 0, 0]],
           "token_loss_mask": [[0, 0, 1, 1, 0, 0]], "sample_loss_mask": [1.0], "advantages": [[9, 9, 0.5, 0.5, 9, 9]],
           "generation_logprobs": [[0, 0, -0.1, -0.2, 0, 0]], "prev_logprobs": [[0, 0, -0.1, -0.3, 0, 0]],
           "idx": 0}  # fmt: skip
    written(tmp_path / "exp_001" / "train_data_step12.jsonl", row, {**row, "idx": 1, "rewards": [0.0]})
    samples, report = read(tmp_path)
    assert dict(report.formats) == {"nemo-rl": 1}
    assert len(samples) == 2
    one = samples[0]
    assert (one.prompt, one.response, one.reward, one.step) == ("2+2?", "4", 1.0, 12)
    assert one.tokens is not None
    assert one.tokens.ids == (5, 6, 7, 8)
    assert one.tokens.start == 2
    assert one.tokens.loss_mask == (0, 0, 1, 1)
    assert one.tokens.logprobs == (-0.1, -0.2)
    assert one.advantage == 0.5
    assert one.length_tokens == 2


def test_nemo_rl_validation_holds_message_logs(tmp_path: Path) -> None:
    log = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]
    written(tmp_path / "val_data_step3.jsonl", {"content": [log], "rewards": [1.0], "idx": 0})
    ((one,), _) = read(tmp_path)
    assert (one.prompt, one.response, one.reward, one.category) == ("2+2?", "4", 1.0, "validation")


def test_skyrl_evaluations_sum_rewards_of_tokens_and_leave_the_summary_out(tmp_path: Path) -> None:
    folder = tmp_path / "dumped_evals" / "global_step_20_evals"
    row = {"input_prompt": "Q", "output_response": "A", "score": [0.0, 0.0, 1.0], "stop_reason": "length",
           "env_class": "gsm8k", "env_extras": {"reward_model": {"ground_truth": "7"}},
           "data_source": "gsm8k"}  # fmt: skip
    written(folder / "gsm8k.jsonl", row, {**row, "score": 0.0, "stop_reason": "stop"})
    written(folder / "aggregated_results.jsonl", {"eval/gsm8k/avg_score": 0.5})
    samples, report = read(tmp_path)
    assert [s.reward for s in samples] == [1.0, 0.0]
    assert [s.truncated for s in samples] == [True, False]
    assert samples[0].step == 20
    assert samples[0].answer == "7"
    assert samples[0].category == "gsm8k"
    assert report.left["not a file of samples"] == 1


def test_open_instruct_traces_have_tokens_and_no_texts(tmp_path: Path) -> None:
    row = {"step": 3, "sample_idx": 0, "prompt_idx": 2, "prompt_tokens": [1, 2, 3], "response_tokens": [4, 5],
           "reward": 1.0, "advantage": -0.5, "finish_reason": "length", "dataset": "math", "ground_truth": [9],
           "request_info": {"num_calls": 2, "timeouts": 0, "tool_errors": "", "tool_calleds": True},
           "logprobs": [-0.1, -0.2]}  # fmt: skip
    written(tmp_path / "run_rollouts_000000.jsonl", row)
    written(tmp_path / "run_metadata.jsonl", {"run_name": "run", "git_commit": "x"})
    ((one,), report) = read(tmp_path)
    assert dict(report.formats) == {"open-instruct": 1}
    assert report.notes
    assert one.tokens is not None
    assert one.tokens.ids == (1, 2, 3, 4, 5)
    assert one.tokens.start == 3
    assert one.tokens.logprobs == (-0.1, -0.2)
    assert (one.group, one.truncated, one.length_tokens, one.advantage) == ("3/2", True, 2, -0.5)
    assert one.scores["tool.num_calls"] == 2
    assert one.scores["tool.called"] == 1


def test_roll_tables_are_unpacked_and_unlike_columns_refused(tmp_path: Path) -> None:
    table = {"global_step": [5, 5], "id": ["p1", "p1"], "prompt": ["Q", "Q"], "ground_truth": ["4", "4"],
             "responses": ["4", "5"], "scores": [1.0, 0.0], "domain": ["math", "math"], "tag": ["x", "x"],
             "sampling_params": ["{}", "{}"]}  # fmt: skip
    written(tmp_path / "rollout_dump_data.step_5.jsonl", table, {**table, "scores": [1.0]})
    samples, report = read(tmp_path)
    assert dict(report.formats) == {"roll": 1}
    assert report.unreadable == 1
    assert [(s.prompt, s.response, s.reward) for s in samples] == [("Q", "4", 1.0), ("Q", "5", 0.0)]
    assert samples[0].group == "5/p1"
    assert samples[0].category == "math"
    assert samples[0].answer == "4"


def test_openrlhf_batches_and_experiences(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", {"input": "Q", "output": "A", "reward": 0.5})
    written(tmp_path / "b.jsonl", {"prompts": ["Q"], "labels": ["A"], "sequences": [[1, 2, 3, 4]],
                                   "action_mask": [[1, 1]], "rollout_log_probs": [[-0.1, -0.2]], "rewards": 1.0,
                                   "response_length": 2, "truncated": False, "total_length": 4})  # fmt: skip
    samples, report = read(tmp_path)
    assert dict(report.formats) == {"jsonl": 1, "openrlhf": 1}
    assert read(tmp_path / "a.jsonl", framework="openrlhf")[1].formats == {"openrlhf": 1}
    assert (samples[0].prompt, samples[0].response, samples[0].reward) == ("Q", "A", 0.5)
    assert (samples[1].prompt, samples[1].answer, samples[1].reward) == ("Q", "A", 1.0)
    assert samples[1].tokens is not None
    assert samples[1].tokens.ids == (1, 2, 3, 4)
    assert samples[1].truncated is False
    assert samples[1].length_tokens == 2


def test_slime_rollouts_as_json(tmp_path: Path) -> None:
    sample = {"index": 0, "group_index": 4, "prompt": "Q", "response": "A", "response_length": 2, "label": "A",
              "tokens": [1, 2, 3, 4], "loss_mask": [1, 1], "rollout_log_probs": [-0.1, -0.2], "reward": 1.0,
              "status": "truncated", "weight_versions": ["3", "4"], "metadata": {"big": "text"}}  # fmt: skip
    (tmp_path / "rollout_8.json").write_text(
        json.dumps({"rollout_id": 8, "samples": [sample, {**sample, "reward": 0}]})
    )
    (tmp_path / "rollout_8.pt").write_bytes(b"\x80\x02not opened")
    samples, report = read(tmp_path)
    assert dict(report.formats) == {"slime": 1}
    assert any("pickle" in reason for reason in report.left)
    one = samples[0]
    assert (one.prompt, one.response, one.reward, one.step, one.group) == ("Q", "A", 1.0, 8, "8/4")
    assert one.answer == "A"
    assert one.truncated is True
    assert one.versions == (3, 4)
    assert one.tokens is not None
    assert one.tokens.ids == (1, 2, 3, 4)
    assert (one.tokens.start, one.tokens.loss_mask, one.tokens.logprobs) == (2, (0, 0, 1, 1), (-0.1, -0.2))
    assert not report.mended


def test_a_first_row_of_another_schema_does_not_hide_the_others(tmp_path: Path) -> None:
    good = json.dumps({"prompt": "Q", "response": "A", "reward": 1})
    path = tmp_path / "mixed.jsonl"
    path.write_text("\n".join(["[1, 2, 3]", good, '"text"', good]))
    samples, report = read(path)
    assert len(samples) == 2
    assert report.formats == {"jsonl": 1}
    path.write_text(f"[\n{good},\n{good}\n]")
    with pytest.raises(InputError, match="known format"):
        read(path)


@pytest.mark.parametrize(
    ("lists", "start"),
    [
        ({"action_mask": [1, 1], "rollout_log_probs": [-0.1, -0.2]}, 3),
        ({"action_mask": [1, 1], "response_length": 2}, 3),
        ({"action_mask": [1, 1], "rollout_log_probs": [-0.1, -0.2, -0.3]}, 0),
        ({"action_mask": [1, 1]}, 0),
        ({"action_mask": [0, 0, 0, 1, 1], "rollout_log_probs": [-0.1, -0.2]}, 3),
    ],
    ids=["mask and log-probs", "mask and length", "they disagree", "one says nothing", "mask over all"],
)
def test_lists_of_the_response_alone_are_laid_to_its_end(tmp_path: Path, lists: dict[str, Any], start: int) -> None:
    row = {"prompt": "Q", "response": "A", "sequences": [1, 2, 3, 4, 5], "total_length": 5, **lists}
    (one,), report = read(written(tmp_path / "mine.jsonl", row))
    assert one.tokens is not None
    assert one.tokens.start == start
    assert bool(report.mended) is (start == 0)


def test_a_named_framework_is_taken_before_the_usual_names(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.jsonl", {"input": "Q", "output": "A", "score": 1, "gts": "A", "step": 2})
    assert read(path, framework="verl")[1].formats == {"verl": 1}
    assert read(path)[0][0].reward == 1


def test_every_format_is_listed_once_and_sniffing_garbage_never_raises(tmp_path: Path) -> None:
    names = [dump.name for dump in all_dumps()]
    assert len(names) == len(set(names)) == 14
    for head in (b"", b"\0\xff", b"{" * 70_000, b'{"a": ', b"PAR1", b"[[[[", b"\xef\xbb\xbf"):
        for name in ("1.jsonl", "x.parquet", "x.csv", "traces.jsonl", "x.json"):
            path = tmp_path / name
            path.write_bytes(head)
            assert all(0 <= dump.sniff(path, head) <= 1 for dump in all_dumps())
