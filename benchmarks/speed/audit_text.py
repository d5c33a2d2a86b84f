"""Speed and memory of the sample audit: all built-in text measures together, on responses of 1 kB.

    python benchmarks/speed/audit_text.py [--samples 20000] [--profile] [--million]

One process, one core; processor time is counted. `--million` writes a file of a million
samples, gives it to `firstbreak audit`, and prints what the command cost, memory included.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from firstbreak.audit.collecting import Collector, collect
from firstbreak.audit.measure import Measure, all_measures
from firstbreak.audit.sample import Sample
from firstbreak.audit.seen import Seen

BUDGET = 3000
"""Samples a second and core."""
CHUNK = 500
"""Samples in a stretch; the result is the median over stretches, so that a busy moment does not count."""
WORDS = """the of and to in is that it for as with be by on this are we at or an if from so let find number sum equal
equation value function then since therefore divide multiply both sides term polynomial root integer prime factor
triangle angle area length radius circle point line slope graph limit series derivative integral probability random
variable expected mean variance matrix vector space basis dimension proof assume suppose contradiction hence show
result answer check compute step first second third next finally simplify substitute expression fraction decimal
percent total remaining distance speed time hours minutes people boxes apples price cost each every more less"""


def made(count: int, group: int = 8, seed: int = 0) -> Iterator[Sample]:
    """Yield samples of 1 kB in groups that share a prompt: prose, some Markdown, numbers, a boxed answer."""
    source = random.Random(seed)
    pool = [prose(source) for _ in range(512)]
    for i in range(count):
        if i % group == 0:
            prompt = f"Problem {i // group}: " + source.choice(pool)[:300]
        a, b = source.choice(pool), source.choice(pool)
        place = source.randrange(400)
        body = f"## Step {i}\n\n{a[place : place + 450]}\n- {b[place : place + 430]}\n\n"
        response = f"{body}**Therefore** the answer is $\\boxed{{{source.randrange(10_000)}}}$."
        yield Sample(prompt, response, reward=source.random(), row=i, scores={"accuracy": float(i % 2)})


def prose(source: random.Random) -> str:
    known = WORDS.split()
    words = [source.choice(known) if source.random() < 0.85 else str(source.randrange(1000)) for _ in range(220)]
    return " ".join(words)


def spent(samples: list[Sample], measures: list[Measure]) -> float:
    """Seconds of the processor for the measures of these samples."""
    start = time.process_time()
    for sample in samples:
        seen = Seen(sample)
        for one in measures:
            one.take(seen)
    return time.process_time() - start


def speed(count: int) -> float:
    """Measure the text measures and the whole collection; return samples a second of the measures."""
    samples = list(made(count))
    size = sum(len(s.response.encode()) for s in samples) / count
    measures = [m for m in all_measures() if m.module.rpartition(".")[2].startswith("text")]
    chunks = [samples[i : i + CHUNK] for i in range(0, count, CHUNK)]
    rates = sorted(len(chunk) / spent(chunk, measures) for chunk in chunks)
    start = time.process_time()
    collect(samples)
    whole = time.process_time() - start
    columns = sum(len(m.columns) for m in measures)
    print(f"{count} samples of {size:.0f} bytes, {len(measures)} measures with {columns} columns")
    middle, best = rates[len(rates) // 2], rates[-1]
    print(f"  text measures          {middle:8.0f} samples/s/core  (budget {BUDGET}); best stretch {best:.0f}")
    print(f"  collect, all measures  {count / whole:8.0f} samples/s/core")
    each(samples[:2000])
    return middle


def each(samples: list[Sample]) -> None:
    """Print what each measure costs by itself."""
    start = time.process_time()
    views = [Seen(s) for s in samples]
    costs = {"words, n-grams, lower case": time.process_time() - start}
    for one in all_measures():
        start = time.process_time()
        for seen in views:
            one.take(seen)
        costs[one.module.rpartition(".")[2]] = time.process_time() - start
    for name, cost in sorted(costs.items(), key=lambda item: -item[1]):
        print(f"    {name:30} {1e6 * cost / len(samples):7.1f} us")


def million(count: int) -> None:
    """Write a file of `count` samples and put the command to it, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for one in made(count):
                row = {"prompt": one.prompt, "response": one.response, "reward": one.reward, "step": one.row // 1000}
                file.write(json.dumps(row) + "\n")
        size = path.stat().st_size / 1e6
        command = [sys.executable, "-m", "firstbreak", "audit", str(path)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode not in {0, 1, 3}:
        raise SystemExit(ended.stderr)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 2**10
    print(f"{count} samples in {size:.0f} MB through `firstbreak audit`: {cost:.0f} s of one core, "
          f"{count / cost:.0f} samples/s, peak memory {peak:.0f} MiB")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--million", nargs="?", type=int, const=1_000_000, metavar="N")
    args = parser.parse_args()
    if args.million:
        million(args.million)
        return
    if args.profile:
        samples, collector = list(made(args.samples)), Collector()
        profile = cProfile.Profile()
        profile.enable()
        for sample in samples:
            collector.add(sample)
        profile.disable()
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        return
    found = speed(args.samples)
    if found < BUDGET:
        raise SystemExit(f"too slow: {found:.0f} samples a second, {BUDGET} wanted")


if __name__ == "__main__":
    main()
