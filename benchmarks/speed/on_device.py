"""On a GPU: what the tensor quantities and the adapters add to a training, in waits for the device and in time.

python -m benchmarks.speed.on_device [--updates 60] [--width 1024]

The CleanRL-style PPO update of `tensor_quantities.py`, on the device, with its set of quantities and without, in
alternation: waits of the host (`cudaStreamSynchronize` and the like, by PyTorch's profiler), copies to the host, and
seconds until the device is done. `--width` is that of the hidden layers of the larger of two sizes. Then real trainings
with an adapter and without, of some gradient steps a row and of more: were it to make a step wait, it would add more
waits to the second. Without a GPU it says so, and ends well.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.speed.tensor_quantities import PPO, Watch
from firstbreak.monitor import Monitor
from tests.gpu.trainings import SUBJECTS
from tests.gpu.waits import waits


def seconds(work: Callable[[], Any]) -> float:
    """Seconds until the device is done with `work`."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - began


def one_update(width: int, rows: int, updates: int) -> dict[str, Any]:
    """Waits and seconds of an update, with the quantities and without."""
    with torch.device("cuda"):
        ppo = PPO(rows, width)
        watch = Watch(ppo.actor, ppo.critic)
        for arm in (watch, None, watch):
            ppo.update(arm)
        plain, watched = waits(lambda: ppo.update(None)), waits(lambda: ppo.update(watch))
        taken: dict[bool, list[float]] = {False: [], True: []}
        for i in range(updates):
            for arm in (False, True) if i % 2 else (True, False):
                ppo.reset()
                taken[arm].append(seconds(lambda arm=arm: ppo.update(watch if arm else None)))
    without, with_ = statistics.median(taken[False]), statistics.median(taken[True])
    return {
        "width": width, "rows": rows, "waits": plain["waits"], "waits_with": watched["waits"],
        "copies": plain["copies"], "copies_with": watched["copies"], "update_ms": 1e3 * without,
        "ratio": with_ / without,
    }  # fmt: skip


def training(name: str, repeats: int) -> dict[str, Any]:
    """Waits of a whole training, with its adapter and without, also with more gradient steps a row; seconds."""
    train, algorithm = SUBJECTS[name]
    rows: list[int] = []

    def run(watched: bool, times: int = 1) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            if not watched:
                train(algorithm, Path(folder), None, times)
                return
            with Monitor(Path(folder) / "watched", algorithm=algorithm) as monitor:
                train(algorithm, Path(folder), monitor, times)
                rows.append(monitor.rows)

    run(True)
    found: dict[str, Any] = {"training": name}
    for times in (1, 2):
        plain, watched = (waits(lambda watched=watched, times=times: run(watched, times)) for watched in (False, True))
        found |= {f"waits_x{times}": plain["waits"], f"added_x{times}": watched["waits"] - plain["waits"]}
        found[f"copies_added_x{times}"] = watched["copies"] - plain["copies"]
        found[f"rows_x{times}"] = rows[-1]
    pairs = [(seconds(lambda: run(False)), seconds(lambda: run(True))) for _ in range(repeats)]
    return found | {
        "seconds": statistics.median(a for a, _ in pairs),
        "ratio": statistics.median(b / a for a, b in pairs),
    }


def main() -> None:
    """Compare both sizes of an update, then the trainings whose framework is installed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--updates", type=int, default=60)
    arguments.add_argument("--width", type=int, default=1024)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--trainings", nargs="*", default=list(SUBJECTS), help=f"of {', '.join(SUBJECTS)}")
    chosen = arguments.parse_args()
    if not torch.cuda.is_available():
        print("No GPU here. tests/unit/monitor/tensors/test_tensor_quantities.py counts waits with a stub.")
        return
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    found: list[dict[str, Any]] = []
    for width, rows in ((64, 2048), (chosen.width, 16_384)):
        found.append(one := one_update(width, rows, chosen.updates))
        print(
            f"PPO update of {rows} rows, width {width}: {one['waits']} waits and {one['copies']} copies to the host, "
            f"with quantities {one['waits_with']} and {one['copies_with']}; {one['update_ms']:.1f} ms, with x "
            f"{one['ratio']:.3f}",
            flush=True,
        )
    for name in chosen.trainings:
        try:
            found.append(one := training(name, chosen.repeats))
        except ImportError as lacking:
            print(f"{name}: not run, {lacking}")
            continue
        print(
            f"{name}: {one['rows_x1']} rows, {one['waits_x1']} waits, the adapter adds {one['added_x1']} and "
            f"{one['copies_added_x1']} copies to the host; with more gradient steps a row {one['rows_x2']} rows, "
            f"{one['waits_x2']} waits, it adds {one['added_x2']} and {one['copies_added_x2']}; "
            f"{one['seconds']:.2f} s, with x {one['ratio']:.3f}",
            flush=True,
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
