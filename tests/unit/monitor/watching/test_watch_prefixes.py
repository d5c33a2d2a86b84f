"""What is told live is what `diagnose` says of the same prefix, wherever the file happens to end."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.api import diagnose_runs
from firstbreak.config import Settings
from firstbreak.errors import FirstbreakError
from firstbreak.monitor.watching.events import Kind
from firstbreak.report.json import finding_dict

from .conftest import LOGS, Stage

BROKEN = {
    "loop_runs/ppo_nan/metrics.jsonl": "jsonl",
    "loop_runs/ppo_lr_jump/metrics.jsonl": "jsonl",
    "sb3_ppo_lr01/progress.csv": "lines",
    "skrl_ppo/events.out.tfevents.1795254642.vm.9444.0": "records",
}
FRACTIONS = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=4).map(sorted)


def whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


def post_mortem(place: Path, data: bytes, kind: str) -> list[dict[str, Any]] | None:
    """What `diagnose` says of this prefix, None where nothing can be read."""
    place.write_bytes(whole_lines(data) if kind == "lines" else data)
    try:
        (diagnosis,) = diagnose_runs(place, Settings())
    except FirstbreakError:
        return None
    return [finding_dict(f) for f in diagnosis.findings]


@pytest.mark.parametrize("name", sorted(BROKEN))
@given(fractions=FRACTIONS)
@settings(max_examples=3)
def test_live_equals_the_post_mortem_of_the_prefix(name: str, fractions: list[float]) -> None:
    data = (LOGS / name).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        place, copy = Path(folder) / "live" / Path(name).name, Path(folder) / "copy" / Path(name).name
        place.parent.mkdir()
        copy.parent.mkdir()
        stage = Stage(place, rules=())
        for fraction in fractions:
            prefix = data[: int(fraction * len(data))]
            place.write_bytes(prefix)
            stage.poll()
            want = post_mortem(copy, prefix, BROKEN[name])
            if want is None:
                continue
            (live,) = stage.watcher.diagnoses
            assert [finding_dict(f) for f in live.findings] == want
            standing = {f["id"] for f in want if f["resolved_at"] is None and not f["ignored"]}
            ledger = stage.track.ledger
            assert set(ledger.told) - ledger.over == standing


def test_a_run_watched_from_its_first_row_ends_in_the_same_findings(
    tmp_path: Path, stage: Callable[..., Stage], logs: Path
) -> None:
    """Every finding of the whole log was told on the way, and each new one at most once."""
    whole = (logs / "loop_runs" / "ppo_lr_jump" / "metrics.jsonl").read_text("utf-8").splitlines(keepends=True)
    s = stage(tmp_path, rules=())
    for start in range(0, len(whole), 12):
        s.write(tmp_path / "metrics.jsonl", "".join(whole[start : start + 12]))
        s.poll()
    (want,) = diagnose_runs(logs / "loop_runs" / "ppo_lr_jump" / "metrics.jsonl", Settings())
    new = [e.findings[0].id for e in s.kinds(Kind.FINDING) if e.text == "new"]
    assert len(new) == len(set(new))
    assert {f.id for f in want.findings} <= set(new)
    alerts = [e.findings[0].name for e in s.told if e.alert]
    assert alerts[0] == "kl-overshoot"
    assert want.first_break is not None
    assert want.first_break.name == "kl-overshoot"


def test_watching_a_log_leaves_it_as_it_was(tmp_path: Path, stage: Callable[..., Stage], logs: Path) -> None:
    shutil.copytree(logs / "sb3_ppo_cartpole", tmp_path / "run")
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in (tmp_path / "run").rglob("*") if p.is_file()}
    s = stage(tmp_path / "run")
    s.poll()
    s.poll()
    after = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in (tmp_path / "run").rglob("*") if p.is_file()}
    assert after == before
