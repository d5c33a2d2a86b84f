"""The reader of records: damage is passed over and counted, parts and ranks are joined, clocks are not trusted."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.loading import load, load_runs
from firstbreak.monitor.record import Recorder, fingerprint
from firstbreak.monitor.verdict import Alarm
from firstbreak.readers.discover import choose
from firstbreak.readers.protocol import Options
from firstbreak.readers.record import MAX_LINE, read, sniff
from firstbreak.readers.record_line import seal, unseal
from firstbreak.readers.record_parts import RecordPart, chains, merged, repeat_fraction
from firstbreak.runlog import Recording, RunLog
from firstbreak.series import Scope

PPO_ROW = {"policy/kl_old": 0.01, "policy/clip_fraction": 0.1, "critic/loss": 1.0, "policy/entropy": 0.7}


def record(folder: Path, steps: Sequence[int], value: float = 0.0, **settings: Any) -> Path:
    """Write rows at `steps`, as one process does, and return the file."""
    kept = Recorder(folder, **{"clock": "updates", **settings})
    for step in steps:
        kept.metrics({"critic/loss": value + step, "other": -step}, step, 1000.0 + step)
    path = kept.path
    kept.close()
    assert path is not None
    return path


def losses(log: RunLog, rank: str = "") -> dict[float, float]:
    series = log.get("critic/loss", Scope(rank=rank))
    assert series is not None
    return dict(zip(series.step.tolist(), series.value.tolist(), strict=True))


def test_it_wins_over_plain_json_lines_and_takes_nothing_else(tmp_path: Path) -> None:
    path = record(tmp_path, [1, 2])
    chosen = choose(path)
    assert chosen is not None
    assert (chosen[0], chosen[1].name) == (1.0, "record")
    renamed = path.rename(tmp_path / "metrics.jsonl")
    assert sniff(renamed) == 1.0
    plain = tmp_path / "plain.jsonl"
    plain.write_text('{"step": 1, "loss": 0.5}\n')
    assert sniff(plain) == sniff(tmp_path) == sniff(tmp_path / "none.jsonl") == 0.0


def test_settings_hints_events_alarms_and_clock_come_back(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, framework="stable_baselines3", algorithm="PPO", clock="env_steps")
    kept.config({"learning_rate": 3e-4, "n_epochs": 10})
    kept.metrics({"train/approx_kl": 0.01, "train/loss": 1.0}, 2048)
    kept.event("eval", 2048, "first")
    onset = Onset(1, 2, "env_steps")
    finding = Finding(
        "POL001", "kl-overshoot", Link.POLICY_UPDATE, Component.OPTIMISER, Severity.ERROR, onset, "KL 35", ""
    )
    kept.alarm(Alarm(finding, 4096, 2, 0.0))
    kept.metrics({"train/approx_kl": 0.02, "train/loss": 1.0}, 4096)
    kept.event("finished", 4096)
    kept.close()
    log = load(tmp_path)
    assert (log.framework, log.algorithm, log.clock, log.state) == ("stable_baselines3", "PPO", "env_steps", "finished")
    assert (log.config["lr"], log.config["n_epochs"]) == (3e-4, 10)
    assert [(e.name, e.at, e.text) for e in log.events] == [
        ("eval", 2048, "first"),
        ("alarm", 4096, "kl-overshoot: KL 35"),
        ("finished", 4096, ""),
    ]
    assert log.get("policy/kl_old") is not None


def test_a_record_is_a_part_of_the_run_whose_folder_it_lies_in(tmp_path: Path) -> None:
    record(tmp_path / "run", [1, 2])
    (tmp_path / "run/metrics.csv").write_text("step,policy_loss\n1,0.5\n2,0.4\n")
    (log,) = load_runs(tmp_path)
    assert set(log.provenance.readers) == {"record", "table"}


def whole_record() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        kept = Recorder(folder, clock="updates", now=lambda: 5.0)
        kept.config({"gamma": 0.99})
        for step in range(8):
            kept.metrics({"loss": [step / 3, float("nan"), float("-inf")][step % 3], f"k{step % 2}": step}, step)
            kept.batch(fingerprint(step), step)
            kept.event("eval", step)
        path = kept.path
        kept.close()
        assert path is not None
        return path.read_bytes()


WHOLE = whole_record()


def rows_of(found: Recording) -> list[tuple[float, str, float]]:
    """Every point, in the order of rows."""
    points = [
        (step, key, value)
        for key, curve in found.curves.items()
        for step, value in zip(curve.step.tolist(), curve.value.tolist(), strict=True)
    ]
    return sorted(points, key=lambda point: point[:2])


def read_bytes(data: bytes) -> RecordPart:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record-0-00001.jsonl"
        path.write_bytes(data)
        found = read(path, Options())
    assert isinstance(found, RecordPart)
    return found


def same(a: list[tuple[float, str, float]], b: list[tuple[float, str, float]]) -> bool:
    return [x[:2] for x in a] == [x[:2] for x in b] and np.array_equal(
        [x[2] for x in a], [x[2] for x in b], equal_nan=True
    )


@given(size=st.integers(0, len(WHOLE)))
def test_any_prefix_of_the_bytes_reads_to_a_prefix_of_the_rows(size: int) -> None:
    prefix = WHOLE[:size]
    if b"\n" not in prefix:
        with pytest.raises(InputError):
            read_bytes(prefix)
        return
    found, everything = read_bytes(prefix), rows_of(read_bytes(WHOLE))
    rows = rows_of(found)
    assert same(rows, everything[: len(rows)])
    assert found.lines == prefix.count(b"\n") - 1
    torn = not prefix.endswith(b"\n")
    assert [p.what for p in found.problems] == ["the last line is cut off; the lines before it were kept."] * torn


@given(place=st.integers(0, len(WHOLE) - 1), flip=st.integers(1, 255))
def test_a_flipped_byte_costs_its_line_and_is_reported(place: int, flip: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[place] ^= flip
    found = read_bytes(bytes(damaged))
    assert found.problems
    everything = rows_of(read_bytes(WHOLE))
    rows = rows_of(found)
    assert all(any(same([row], [other]) for other in everything) for row in rows)
    assert found.lines >= WHOLE.count(b"\n") - 1 - 2
    hit = WHOLE[:place].count(b"\n")
    assert hit == 0 or f"line {hit}" in str(found.problems) or f"line {hit + 1}" in str(found.problems)


@given(data=st.binary(max_size=300), start=st.integers(0, len(WHOLE)), stop=st.integers(0, len(WHOLE)))
def test_no_bytes_make_the_reader_fail(data: bytes, start: int, stop: int) -> None:
    try:
        found = read_bytes(WHOLE[:start] + data + WHOLE[stop:])
    except InputError:
        return
    assert all(curve.step.shape == curve.value.shape for curve in found.curves.values())


FORGED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=3,
)
FIELDS = ("step", "wall", "clock", "metrics", "config", "name", "at", "text", "finding", "fingerprint", "versions",
          "current", "process", "beside", "rank", "algorithm", "run", "framework")  # fmt: skip
KINDS = ("start", "metrics", "config", "event", "alarm", "batch", "rollout", "finding", "new")


@given(
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), FORGED, max_size=6)), max_size=5
    )
)
def test_lines_with_the_wrong_contents_do_not_make_it_fail(lines: list[tuple[str, dict[str, Any]]]) -> None:
    bodies = [json.dumps({"seq": i, "kind": kind, **fields}) for i, (kind, fields) in enumerate(lines)]
    found = read_bytes(b"".join(seal(text[:-1].encode()) for text in bodies) + WHOLE)
    assert found.lines


@given(st.binary(max_size=80))
def test_sealing_is_undone_by_unsealing_and_nothing_else_is_sealed(body: bytes) -> None:
    assert unseal(body + b"\n") is None
    assert unseal(seal(b'{"a":1')) == {"a": 1}
    assert unseal(seal(b'{"a":1')[:-1]) is None


def test_resumed_parts_replace_what_they_overlap(tmp_path: Path) -> None:
    record(tmp_path, range(1, 11), 0)
    record(tmp_path, range(8, 21), 100)
    record(tmp_path, range(16, 18), 200)
    record(tmp_path, range(13, 15), 300)
    log = load(tmp_path)
    expected = {s: s for s in range(1, 8)} | {s: 100 + s for s in range(8, 13)} | {s: 300 + s for s in range(13, 15)}
    assert losses(log) == expected
    assert [(e.name, e.at) for e in log.events] == [("resume", 8), ("resume", 13), ("resume", 16)]
    assert log.provenance.problems == ()


def test_a_run_started_again_from_nothing_replaces_the_first(tmp_path: Path) -> None:
    record(tmp_path, range(1, 11), 0)
    record(tmp_path, range(1, 5), 100)
    log = load(tmp_path)
    assert losses(log) == {s: 100 + s for s in range(1, 5)}
    assert [(e.name, e.at) for e in log.events] == [("restart", 1)]


LIVES = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10)), min_size=1, max_size=8)


@settings(max_examples=50)
@given(lives=LIVES)
def test_merging_agrees_with_a_log_that_is_rewritten_life_by_life(lives: list[tuple[int, int]]) -> None:
    truth: dict[float, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths: list[Path] = []
        for life, (start, count) in enumerate(lives):
            paths.append(record(Path(folder), range(start, start + count), 1000 * life))
            truth = {s: v for s, v in truth.items() if s < start}
            truth |= {s: 1000 * life + s for s in range(start, start + count)}
        (found,) = merged([read(path, Options()) for path in random.Random(0).sample(paths, len(paths))])
    curve = found.curves["critic/loss"]
    assert dict(zip(curve.step.tolist(), curve.value.tolist(), strict=True)) == truth
    assert list(truth) == curve.step.tolist()


def test_a_process_killed_before_its_first_row_leaves_no_trace_in_the_run(tmp_path: Path) -> None:
    record(tmp_path, range(1, 6))
    Recorder(tmp_path, clock="updates").config({"gamma": 0.9})
    log = load(tmp_path)
    assert len(losses(log)) == 5
    assert (log.events, log.provenance.problems) == ((), ())


def test_clocks_that_jump_change_neither_order_nor_numbers(tmp_path: Path) -> None:
    walls = iter([100.0, 200.0, 50.0, 1e12, 300.0, float("nan"), 310.0])
    kept = Recorder(tmp_path, clock="updates", now=lambda: 1.0)
    for step in range(7):
        kept.metrics({"critic/loss": step}, step, next(walls))
    kept.close()
    record(tmp_path, [7, 8], 0)  # at 1007 s, before the jump
    log = load(tmp_path)
    assert losses(log) == {s: s for s in range(9)}
    assert "went back" in str(log.provenance.problems)
    series = log.get("critic/loss")
    assert series is not None
    assert series.wall is None or bool(np.all(np.diff(series.wall) >= 0))


def test_rows_on_another_clock_stand_at_the_newest_step_of_the_run(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, clock="env_steps")
    for update in range(1, 4):
        kept.metrics({"critic/loss": update}, 2048 * update)
        kept.metrics({"reward/eval_return_mean": update}, update, clock="updates")
    kept.close()
    log = load(tmp_path)
    evaluated = log.get("reward/eval_return_mean")
    assert evaluated is not None
    assert evaluated.step.tolist() == [2048, 4096, 6144]
    assert log.clock == "env_steps"


def test_the_clock_of_most_rows_counts_where_the_recorder_was_told_none(tmp_path: Path) -> None:
    kept = Recorder(tmp_path)
    for step in range(1, 4):
        kept.metrics({"critic/loss": step}, 10 * step, clock="updates")
    kept.close()
    log = load(tmp_path)
    assert (log.clock, log.last_step) == ("updates", 30)


def test_ranks_become_scopes_and_rank_0_stands_for_the_run(tmp_path: Path) -> None:
    for rank in (0, 1, 10):
        record(tmp_path, range(1, 4), 100 * rank, rank=rank)
    record(tmp_path, range(3, 6), 5000, rank=10)
    log = load(tmp_path)
    assert log.scopes("critic/loss") == (Scope(), Scope(rank="1"), Scope(rank="10"))
    assert losses(log) == {1: 1, 2: 2, 3: 3}
    assert losses(log, "10") == {1: 1001, 2: 1002, 3: 5003, 4: 5004, 5: 5005}


def test_a_single_rank_is_the_whole_run(tmp_path: Path) -> None:
    record(tmp_path, [1, 2], rank=3)
    assert load(tmp_path).scopes("critic/loss") == (Scope(),)


def test_lines_that_were_never_written_are_counted(tmp_path: Path) -> None:
    path = record(tmp_path, range(1, 11))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4] + lines[7:]))
    assert "3 lines of this process are not there" in str(load(tmp_path).provenance.problems)


def test_a_line_written_twice_counts_once(tmp_path: Path) -> None:
    path = record(tmp_path, range(1, 4))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], lines[2], *lines[3:]]))
    assert losses(load(tmp_path)) == {1: 1, 2: 2, 3: 3}


def test_repeated_batches_show(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, algorithm="PPO", clock="updates")
    for update in range(1, 9):
        kept.metrics(PPO_ROW, update)
        batch = np.full(8, update if update < 5 else 4)
        kept.batch(fingerprint(batch), update)
        kept.batch(fingerprint(batch), update)  # the second epoch of an update is no repeat
    kept.close()
    repeats = load(tmp_path).get("data/repeat_fraction")
    assert repeats is not None
    assert repeats.value.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


BATCHES = st.lists(st.tuples(st.integers(0, 9).map(float), st.sampled_from("abcdef")), max_size=30)


@given(batches=BATCHES)
def test_the_repeat_fraction_agrees_with_counting(batches: list[tuple[float, str]]) -> None:
    found = repeat_fraction(sorted(batches, key=lambda pair: pair[0]))
    for step, value in zip(found.step.tolist(), found.value.tolist(), strict=True):
        now = {name for at, name in batches if at == step}
        before = {name for at, name in batches if at < step}
        assert value == len([name for name in now if name in before]) / len(now)
    assert set(found.step.tolist()) == {at for at, _ in batches}


def test_the_age_of_the_data_follows_from_policy_versions(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, algorithm="GRPO", clock="updates")
    for update in range(1, 5):
        kept.metrics({"reward/train_mean": 0.5}, update)
        kept.rollout([update, update - 2], update, update)
        kept.rollout(7, update)  # without the version being trained nothing follows
    kept.close()
    log = load(tmp_path)
    mean, oldest = log.get("async/staleness_mean"), log.get("async/staleness_max")
    assert mean is not None
    assert oldest is not None
    assert mean.value.tolist() == [1.0] * 4
    assert oldest.value.tolist() == [2.0] * 4


def test_what_a_run_logs_itself_is_not_replaced(tmp_path: Path) -> None:
    kept = Recorder(tmp_path, clock="updates")
    kept.metrics({"data/repeat_fraction": 0.125, "critic/loss": 1.0}, 1)
    kept.batch("a", 1)
    kept.close()
    repeats = load(tmp_path).get("data/repeat_fraction")
    assert repeats is not None
    assert repeats.value.tolist() == [0.125]


def parts(*places: tuple[int, str, tuple[int, ...]]) -> Iterator[RecordPart]:
    for number, process, beside in places:
        names = tuple(f"record-0-{other:05d}.jsonl" for other in beside)
        yield RecordPart(f"x/record-0-{number:05d}.jsonl", "record", number=number, process=process, beside=names)


def test_processes_that_wrote_at_the_same_time_are_kept_apart() -> None:
    several = list(parts((1, "a", ()), (2, "b", (1,)), (3, "a", (2,)), (4, "c", ()), (5, "d", (4,)), (6, "b", ())))
    random.Random(0).shuffle(several)
    assert [[p.number for p in chain] for chain in chains(several)] == [[1, 3, 5], [2, 4, 6]]


def test_an_endless_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "record-0-00001.jsonl"
    with path.open("wb") as stream:
        stream.write(WHOLE)
        stream.truncate(len(WHOLE) + MAX_LINE + 10)
    found = read(path, Options())
    assert isinstance(found, RecordPart)
    assert found.lines == WHOLE.count(b"\n") - 1
    assert found.problems
