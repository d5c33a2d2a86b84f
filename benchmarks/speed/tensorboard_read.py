"""Speed and peak memory of reading an event file: firstbreak against TensorBoard's own EventAccumulator.

Both read the same synthetic file in a process of their own, check every checksum and sample nothing away
(`size_guidance` 0). Time leaves out the imports; memory is the peak of the whole process, imports included. The full
size takes some minutes, nearly all of them TensorBoard's; `--tags 50 --points 20000` is a tenth of it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from firstbreak.readers.crc32c import crc32c, mask, masked_rows

WORDS = ("rollout/ep_rew_mean", "train/approx_kl", "losses/value_loss", "charts/SPS", "time/fps_of_the_sampler")
READERS = ("firstbreak", "EventAccumulator")


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def framed(data: bytes) -> bytes:
    size = struct.pack("<Q", len(data))
    return size + struct.pack("<I", mask(crc32c(size))) + data + struct.pack("<I", mask(crc32c(data)))


def scalar_event(tag: str, step: int) -> bytes:
    name = tag.encode()
    value = b"\x0a" + varint(len(name)) + name + b"\x15" + bytes(4)
    summary = b"\x0a" + varint(len(value)) + value
    return b"\x09" + bytes(8) + b"\x10" + varint(step) + b"\x2a" + varint(len(summary)) + summary


def tag_rows(tag: str, steps: np.ndarray, wall: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return the framed records [n, bytes] of one tag at `steps` [n], whose varints are all of one width."""
    data = scalar_event(tag, int(steps[0]))
    width = len(varint(int(steps[0])))
    rows = np.tile(np.frombuffer(framed(data), dtype=np.uint8), (len(steps), 1))
    rows[:, 13:21] = wall[:, None].view(np.uint8)
    for byte in range(width):
        rows[:, 22 + byte] = (steps >> (7 * byte)) & 0x7F | (0x80 if byte < width - 1 else 0)
    rows[:, -8:-4] = value.astype("<f4")[:, None].view(np.uint8)
    rows[:, -4:] = masked_rows(rows[:, 12:-4], len(data))[:, None].view(np.uint8)
    return rows


def write_file(path: Path, tags: int, points: int) -> None:
    """Write `points` steps of `tags` scalars each, step after step, as a training loop would."""
    rng = np.random.default_rng(0)
    names = [f"{WORDS[i % len(WORDS)]}_{i}" for i in range(tags)]
    edges = [1, *(e for e in (1 << 7, 1 << 14, 1 << 21) if e <= points), points + 1]
    with path.open("wb") as stream:
        stream.write(framed(b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x0dbrain.Event:2"))
        for lo, hi in itertools.pairwise(edges):
            for start in range(lo, hi, 5000):
                steps = np.arange(start, min(start + 5000, hi), dtype=np.int64)
                rows = [
                    tag_rows(n, steps, 1.7e9 + steps + 1e-3 * i, rng.normal(size=len(steps)))
                    for i, n in enumerate(names)
                ]
                stream.write(np.concatenate(rows, axis=1).tobytes())


def read_once(reader: str, path: Path) -> dict[str, float]:
    """Read `path` with one reader in this process; return seconds, points, a checksum and peak bytes."""
    if reader == "EventAccumulator":
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        began = time.perf_counter()
        accumulator = EventAccumulator(str(path), size_guidance={"scalars": 0})
        accumulator.Reload()
        seconds = time.perf_counter() - began
        events = [accumulator.Scalars(tag) for tag in accumulator.Tags()["scalars"]]
        points, total = sum(map(len, events)), sum(e.value * e.step for tag in events for e in tag)
    else:
        from firstbreak.readers.protocol import Options
        from firstbreak.readers.tensorboard import READER

        began = time.perf_counter()
        recording = READER.read(path, Options(verify=True))
        seconds = time.perf_counter() - began
        points = recording.points
        total = sum(float(curve.value @ curve.step) for curve in recording.curves.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "points": points, "sum": total, "peak_bytes": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tags", type=int, default=50)
    parser.add_argument("--points", type=int, default=200_000, help="steps, each with one point of every tag")
    parser.add_argument("--read", nargs=2, metavar=("READER", "PATH"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.read:
        print(json.dumps(read_once(args.read[0], Path(args.read[1]))))
        return
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.out.tfevents.1700000000.bench.0"
        write_file(path, args.tags, args.points)
        size = path.stat().st_size
        print(f"{args.tags} tags x {args.points} points, {size / 1e6:.0f} MB")
        for reader in READERS:
            command = [sys.executable, __file__, "--read", reader, str(path)]
            results[reader] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    report(args.tags * args.points, size, results)


def report(points: int, size: int, results: dict[str, dict[str, float]]) -> None:
    theirs = results["EventAccumulator"]
    print(f"{'reader':20} {'seconds':>8} {'points/s':>12} {'peak MB':>8} {'times as fast':>14} {'of its memory':>14}")
    for reader, got in results.items():
        if got["points"] != points or not np.isclose(got["sum"], theirs["sum"], rtol=1e-6):
            sys.exit(f"{reader} read {got['points']} of {points} points, weighted sum {got['sum']} != {theirs['sum']}")
        got["speedup"] = theirs["seconds"] / got["seconds"]
        got["memory_ratio"] = got["peak_bytes"] / theirs["peak_bytes"]
        print(
            f"{reader:20} {got['seconds']:8.2f} {got['points'] / got['seconds']:12,.0f} {got['peak_bytes'] / 1e6:8.0f}"
            f" {got['speedup']:14.1f} {got['memory_ratio']:14.2f}"
        )
    print(json.dumps({"points": points, "file_bytes": size, "readers": results}))


if __name__ == "__main__":
    main()
