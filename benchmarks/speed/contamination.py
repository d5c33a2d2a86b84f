"""Contamination over a million training prompts and ten thousand evaluation prompts: found, false, time, memory.

    python benchmarks/speed/contamination.py --full --to benchmarks/statistics/results/contamination.json

Prompts are made of 40,000 invented words of natural frequency, with numbers, code and other scripts; half of the
training prompts and all evaluation prompts share a template. Copies of evaluation prompts are planted in the training
data with edits of several strengths; how alike each copy is, is counted here with Python's own sets, by a second
implementation. Without --full a tenth of the size, so that `make bench` stays short.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from itertools import accumulate
from pathlib import Path
from typing import Any

THRESHOLD = 0.7
BUDGET_S, BUDGET_BYTES = 600.0, 2 << 30
FOUND_FRAC, FALSE_FRAC = 0.99, 0.001
TEMPLATE = (
    "Solve the following task step by step. Put your final answer on the last line after the words final answer, "
    "without units and without any explanation.\n\n{}\n\nRemember: only the last line counts."
)
SCRIPTS = (
    "数据集包含许多不同的问题和答案",
    "модель решает задачу шаг за шагом",
    "les élèves résolvent l'équation donnée",
)


class Writer:
    """Writes prompts as people do: frequent words often, rare ones seldom, sentences of uneven length."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        starts = ("b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "v", "z", "ch", "st", "tr")
        sounds = [a + b for a in starts for b in ("a", "e", "i", "o", "u", "ai", "ou")]
        invent = random.Random(1)
        words = {"".join(invent.choices(sounds, k=invent.randint(1, 4))) for _ in range(60_000)}
        self.words = sorted(words)[:40_000]
        invent.shuffle(self.words)
        self.weights = list(accumulate(1.0 / (rank + 8) for rank in range(len(self.words))))

    def prompt(self) -> str:
        """Return one prompt of 15 to 300 words, 60 in the middle."""
        r = self.random
        count = int(min(max(r.lognormvariate(4.1, 0.5), 15), 300))
        words = r.choices(self.words, cum_weights=self.weights, k=count)
        for place in range(0, count, 9):
            words[place] = str(r.randint(2, 9999))
        for place in range(11, count, 12):
            words[place] += ". "
        if r.random() < 0.05:
            words.insert(count // 2, r.choice(SCRIPTS))
        if r.random() < 0.1:
            words.append(f"\n```\ndef f(x): return x + {r.randint(0, 99)}\n```")
        return " ".join(words).capitalize()


def words_of(text: str) -> list[str]:
    """Split as the tool documents it, with a regular expression of its own."""
    return re.findall(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+|[-+*/=<>^%|&~]", text.casefold())


def overlap(one: str, other: str) -> float:
    """Return the Jaccard overlap of runs of three words."""
    a, b = ({tuple(w[i : i + 3]) for i in range(len(w) - 2)} for w in (words_of(one), words_of(other)))
    return len(a & b) / len(a | b)


def replaced(writer: Writer, text: str, share: float) -> str:
    """Replace a share of the words."""
    words = text.split(" ")
    for place in writer.random.sample(range(len(words)), max(1, round(share * len(words)))):
        words[place] = writer.random.choice(writer.words)
    return " ".join(words)


def shuffled(writer: Writer, text: str) -> str:
    """Put the sentences into another order."""
    parts = text.split(". ")
    writer.random.shuffle(parts)
    return ". ".join(parts)


def shortened(writer: Writer, text: str) -> str:
    """Leave out the last tenth of the words."""
    words = text.split(" ")
    return " ".join(words[: -max(1, len(words) // 10)])


EDITS: dict[str, Callable[[Writer, str], str]] = {
    "copied": lambda _, text: text,
    "case and punctuation": lambda _, text: text.upper().replace(". ", " ! ") + "?",
    "one word": lambda w, text: replaced(w, text, 0.0),
    "3 % of the words": lambda w, text: replaced(w, text, 0.03),
    "5 % of the words": lambda w, text: replaced(w, text, 0.05),
    "10 % of the words": lambda w, text: replaced(w, text, 0.10),
    "sentences shuffled": shuffled,
    "end cut": shortened,
    "words added": lambda w, text: text + " " + " ".join(w.random.choices(w.words, k=max(1, len(text.split()) // 8))),
}


def row(number: int, prompt: str) -> str:
    """Return a row in one of three schemas, for training data is rarely of one."""
    answer = f"so it is. Final answer: {number}"
    if number % 3 == 0:
        return json.dumps({"prompt": prompt, "answer": answer})
    if number % 3 == 1:
        return json.dumps({"question": prompt, "solution": answer, "source": "made"}, ensure_ascii=False)
    turns = [{"role": "user", "content": prompt}, {"role": "assistant", "content": answer}]
    return json.dumps({"messages": turns})


def make(folder: Path, train_rows: int, eval_rows: int) -> dict[int, tuple[str, float]]:
    """Write both files; return evaluation row -> (edit, overlap) of what was planted."""
    writer = Writer(0)
    held = [writer.prompt() for _ in range(eval_rows)]
    (folder / "eval.jsonl").write_text(
        "".join(json.dumps({"prompt": TEMPLATE.format(p), "answer": str(i)}) + "\n" for i, p in enumerate(held)),
        "utf-8",
    )
    chosen = writer.random.sample(range(eval_rows), eval_rows // 4)
    names = list(EDITS)
    places = sorted(writer.random.sample(range(train_rows), len(chosen)))
    planted: dict[int, tuple[str, float]] = {}

    def rows() -> Iterator[str]:
        waiting = dict(zip(places, chosen, strict=True))
        for number in range(train_rows):
            prompt = writer.prompt()
            if number in waiting:
                item = waiting[number]
                name = names[item % len(names)]
                prompt = EDITS[name](writer, held[item])
                planted[item + 1] = (name, overlap(held[item], prompt))
            yield row(number, TEMPLATE.format(prompt) if number % 2 else prompt) + "\n"

    with (folder / "train.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(rows())
    return planted


def resident_bytes(pid: int) -> int:
    """Return what a process and its children hold in memory together, shared pages counted for each."""
    total = 0
    try:
        total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(resident_bytes(int(child)) for child in (task / "children").read_text().split())
    except OSError:
        pass
    return total


def measure(folder: Path) -> tuple[dict[str, object], float, int]:
    """Run the command; return its answer, its seconds and its largest memory in bytes."""
    command = [sys.executable, "-m", "firstbreak", "eval", "contamination", "--train", str(folder / "train.jsonl")]
    command += ["--eval", str(folder / "eval.jsonl"), "--threshold", str(THRESHOLD), "--format", "json"]
    start, most = time.monotonic(), 0
    with (folder / "answer.json").open("w") as out, subprocess.Popen(command, stdout=out) as process:
        while process.poll() is None:
            most = max(most, resident_bytes(process.pid))
            time.sleep(0.2)
    return json.loads((folder / "answer.json").read_text()), time.monotonic() - start, most


def main() -> int:
    """Print the figures; exit 1 when one misses its budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="1,000,000 x 10,000 prompts")
    parser.add_argument("--to", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--scale", type=float, default=0.1, help="share of the full size")
    args = parser.parse_args()
    scale = 1.0 if args.full else args.scale
    train_rows, eval_rows = int(1_000_000 * scale), int(10_000 * scale)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.monotonic()
        planted = make(folder, train_rows, eval_rows)
        size = (folder / "train.jsonl").stat().st_size
        print(f"made {train_rows:,} x {eval_rows:,} prompts, {size / 1e6:,.0f} MB, in {time.monotonic() - start:.0f} s")
        answer, seconds, most = measure(folder)
    matches = answer["contamination"]["matches"]  # type: ignore[index,call-overload]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {
        "train_rows": train_rows, "eval_rows": eval_rows, "on": date.today().isoformat(), "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1), "wall_s": seconds, "cpu_s": used.ru_utime + used.ru_stime,
        "memory_bytes": most,
    }  # fmt: skip
    figures = cost | judged({m["eval_row"]: m for m in matches}, planted, eval_rows)  # type: ignore[union-attr]
    if args.to is not None:
        args.to.parent.mkdir(parents=True, exist_ok=True)
        args.to.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    print(f"time {seconds:.0f} s (budget {BUDGET_S:.0f} s); memory {most / 2**30:.2f} GiB (budget 2 GiB); "
          f"processor time of both processes {cost['cpu_s']:.0f} s")  # fmt: skip
    good = figures["found_frac"] >= FOUND_FRAC and figures["false_frac"] <= FALSE_FRAC
    good = good and seconds <= BUDGET_S and most <= BUDGET_BYTES
    print("within budget" if good else "OVER BUDGET")
    return 0 if good else 1


def judged(
    found: dict[int, dict[str, object]], planted: dict[int, tuple[str, float]], eval_rows: int
) -> dict[str, Any]:
    """Compare what was found with what was planted, print it, and return the figures."""
    due = {item: name for item, (name, alike) in planted.items() if alike >= THRESHOLD}
    hit = {item for item, match in found.items() if match["kind"] != "shared"}
    edits: dict[str, list[int]] = {}
    for name in EDITS:
        mine = [item for item, one in due.items() if one == name]
        alike = [planted[item][1] for item in mine]
        below = sum(one == name and share < THRESHOLD for one, share in planted.values())
        edits[name] = [sum(i in hit for i in mine), len(mine), below]
        print(
            f"{name:22} planted at overlap {min(alike, default=0):.2f} to {max(alike, default=0):.2f}: "
            f"{sum(i in hit for i in mine)} of {len(mine)} found; {below} planted below the threshold"
        )
    false = [item for item in hit if item not in planted]
    found_frac = sum(item in hit for item in due) / len(due)
    false_frac = len(false) / (eval_rows - len(planted))
    kinds = Counter(str(m["kind"]) for m in found.values())
    print(f"kinds: {dict(kinds)}; unplanted in shared text: {sum(i not in planted for i in found) - len(false)}")
    print(f"found {found_frac:.2%} of {len(due)} (budget {FOUND_FRAC:.0%}); false {false_frac:.3%} (budget 0.1 %)")
    return {"found_frac": found_frac, "planted": len(due), "false_frac": false_frac, "edits": edits}


if __name__ == "__main__":
    raise SystemExit(main())
