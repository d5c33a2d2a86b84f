"""A run killed and resumed again and again loses nothing that was acknowledged, and ends in the same diagnosis."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from firstbreak.api import diagnose, load
from firstbreak.diagnosis import Diagnosis

pytestmark = pytest.mark.full

UPDATES, KILLS = 1200, 100

TRAINER = '''
"""Trains by reading numbers off a synthetic run; argv: folder, updates, kills. Each life is a process of its own."""
import fcntl, os, random, signal, sys
from pathlib import Path
import numpy as np
from firstbreak import synth
from firstbreak.monitor.record import Recorder

folder, updates, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
log = synth.like("PPO", n=updates)({
    "policy/kl_old": synth.jump(0.008, 0.9, at=0.6),
    "policy/entropy": synth.geometric(0.69, 0.001, begin=0.6),
    "optim/grad_norm": synth.after(0.9, synth.constant(float("nan")), synth.flat(0.6, 0.2)),
})
table = {series.metric: series.value for series in log.series}
checkpoint = folder / "checkpoint.txt"

def live(acknowledge):
    """Train from the checkpoint on; say which line is safe as soon as `metrics` returns."""
    start = int(checkpoint.read_text()) if checkpoint.exists() else 0
    recorder = Recorder(folder, algorithm="PPO", clock="updates")
    recorder.config({"gamma": 0.99, "target_kl": 0.02})
    for update in range(start, updates):
        row = {metric: float(values[update]) for metric, values in table.items()}
        seq = recorder.metrics(row, update + 1, 1.7e9 + update)
        os.write(acknowledge, f"{recorder.path.name} {seq} {update + 1}".ljust(511).encode() + b"\\n")
        if update % 5 == 4:
            fresh = checkpoint.with_suffix(".new")
            fresh.write_text(str(update + 1))
            fresh.replace(checkpoint)
    recorder.event("finished", updates)
    recorder.close()

draw = random.Random(7)
for life in range(kills + 1):
    listen, speak = os.pipe()
    fcntl.fcntl(speak, fcntl.F_SETPIPE_SZ, 4096)  # the child runs at most eight rows ahead of us
    child = os.fork()
    if child == 0:
        os.close(listen)
        live(speak)
        os._exit(0)
    os.close(speak)
    patience, heard = draw.randint(0, 24), b""
    while True:
        if life < kills and heard.count(b"\\n") >= patience:
            os.kill(child, signal.SIGKILL)
            patience = 1 << 30
        said = os.read(listen, 512)
        if not said:
            break
        heard += said
    os.close(listen)
    os.waitpid(child, 0)
    sys.stdout.write(heard.decode())
'''


def train(folder: Path, kills: int) -> list[tuple[str, int, int]]:
    """Run the trainer; return what it acknowledged: part, sequence number, update."""
    folder.mkdir()
    script = folder.parent / "trainer.py"
    script.write_text(TRAINER)
    command = [sys.executable, str(script), str(folder), str(UPDATES), str(kills)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    said = [line.split() for line in ran.stdout.splitlines()]
    return [(part, int(seq), int(update)) for part, seq, update in said]


def written(folder: Path) -> set[tuple[str, int, int]]:
    """Return the rows on disk as any tool sees them: part, sequence number, update.

    A kill in the middle of a write may leave the last line of a part without its end (Linux stops a write between two
    pages of memory). That line was never acknowledged; every other one must be whole.
    """
    found: set[tuple[str, int, int]] = set()
    for part in (folder / "firstbreak").iterdir():
        *lines, _ = part.read_text().split("\n")
        for line in lines:
            record = json.loads(line)
            if record["kind"] == "metrics":
                found.add((part.name, record["seq"], int(record["step"])))
    return found


def gist(diagnosis: Diagnosis) -> tuple[object, ...]:
    said = [(f.id, f.severity, f.onset, f.message, f.resolved_at) for f in diagnosis.findings]
    return diagnosis.verdict, diagnosis.first_break, said, [(c.name, c.score) for c in diagnosis.causes]


def test_a_run_killed_a_hundred_times_loses_nothing_and_ends_in_the_same_diagnosis(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert len(train(whole, 0)) == UPDATES
    acknowledged = train(broken, KILLS)
    lives = Counter(part for part, _, _ in acknowledged)
    assert len(lives) > KILLS / 2
    assert len(list((broken / "firstbreak").iterdir())) >= len(lives)
    assert set(acknowledged) <= written(broken)
    one, other = load(whole), load(broken)
    assert {s.metric for s in one.series} == {s.metric for s in other.series}
    for series in one.series:
        same = other.get(series.metric)
        assert same is not None
        np.testing.assert_array_equal(same.step, series.step)
        np.testing.assert_array_equal(same.value, series.value)
    assert other.state == one.state == "finished"
    assert sum(event.name == "resume" for event in other.events) > KILLS / 2
    assert gist(diagnose(broken)) == gist(diagnose(whole))
    assert diagnose(broken).findings
