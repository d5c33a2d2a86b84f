"""Generator 3: small programming tasks, answered by a function and a few words."""

from __future__ import annotations

from random import Random

from task import Task

FOLDS = {
    "sum": ("total = 0", "total += {}", "sum"), "largest": ("total = -10**9", "total = max(total, {})", "max"),
    "smallest": ("total = 10**9", "total = min(total, {})", "min"), "count": ("total = 0", "total += 1", "len"),
}  # fmt: skip
TESTS = {
    "even": "{} % 2 == 0", "odd": "{} % 2 == 1", "positive": "{} > 0", "negative": "{} < 0",
    "three-digit": "100 <= {} <= 999", "square": "int(abs({}) ** 0.5) ** 2 == {}",
}  # fmt: skip
NAMES = ["values", "rows", "prices", "scores", "cells", "weights", "ages", "stock", "readings", "levels"]
ONE = ["value", "row", "x", "item", "entry", "number", "v", "cell"]
WHERE = ["warehouse", "survey", "weather", "ledger", "sensor", "league", "invoice", "tournament"]


def coding(rng: Random) -> Task:
    """Return a task: one function over a list of numbers."""
    fold, test = rng.choice(sorted(FOLDS)), rng.choice(sorted(TESTS))
    many, one, where = rng.choice(NAMES), rng.choice(ONE), rng.choice(WHERE)
    other = rng.choice([t for t in sorted(TESTS) if t != test])
    name = rng.choice((f"{fold}_of_{test.replace('-', '_')}", f"{where}_{fold}", f"find_{fold}"))
    prompt = rng.choice((
        f"Write a Python function {name} that takes a list of {many} from a {where} and returns "
        f"the {fold} of the {test} ones.",
        f"I keep {many} of a {where} in a list. Give me {name}({many}) for the {fold} of all {test} numbers in it.",
        f"Implement {name}: the input is a list of integers called {many}, "
        f"the output is the {fold} of those that are {test}.",
    ))  # fmt: skip
    lists = [[rng.randint(-60, 400) for _ in range(rng.randint(2, 6))] for _ in range(30)]
    more = [
        *[f"assert {name}({xs}) is not None  # {len(xs)} {many}, from {min(xs)} to {max(xs)}" for xs in lists[:14]],
        *[f"For {xs} the loop looks at {xs[0]} first and at {xs[-1]} last." for xs in lists[14:22]],
        f"The loop visits each {one} once, so the time grows with the length of {many}.",
        f"The name {one} stands for one of the {many} of the {where}.",
        f"A {where} without {test} numbers gives the value that total starts with.",
        f"A comprehension with {FOLDS[fold][2]} would do it too, in one line.",
        f"Turning the {where} into a generator saves memory for long {many}.",
    ]
    return Task(
        prompt,
        _code(rng, name, many, one, fold, test),
        _code(rng, name, many, one, fold, other),
        (fold, test, many, one, where, "function", "list", "loop", "return", "integers"),
        (rng.choice((f"We walk over the {many} and keep what is {test}.", f"The {fold} is kept in one variable.",
                     f"A plain loop over the {where} is enough.")),),
        (rng.choice((f"We walk over the {many} and filter them.", f"The {fold} is kept in one variable.")),),
        "{}",
        tuple(more),
        tuple(f"assert {name}({xs}) == {sum(xs)}" for xs in lists[:24]),
        (f"I ran it by hand on {lists[0]} and it stops after {len(lists[0])} turns.",),
    )  # fmt: skip


def _code(rng: Random, name: str, many: str, one: str, fold: str, test: str) -> str:
    start, step, _ = FOLDS[fold]
    remark = rng.choice(("", f"  # keep the {test} ones", f"  # one {one} at a time"))
    return (
        f"```python\ndef {name}({many}):\n    {start}\n    for {one} in {many}:{remark}\n"
        f"        if {TESTS[test].format(one, one)}:\n            {step.format(one)}\n    return total\n```"
    )
