"""What differs between two runs, ranked by how likely it explains that they part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..comparison import Comparison, config_differences
from ..vocabulary import metrics
from . import store
from .contents import Context, Mark
from .weights import Weight, canonical_name, kind_weight, package_weight, setting_weight, size_of, version_step

SAME_LINK = 1.3
"""Factor for what acts on the link whose metrics part first. Engineering default."""
AFTER_EQUALITY = 0.3
"""Factor for what acts from the first update, when the runs were equal to the last bit for a while."""
NEGLIGIBLE = 0.05
"""A difference that weighs less does not explain anything (names, folders, logging). Engineering default."""


@dataclass(frozen=True)
class Difference:
    """One difference. `kind` is setting, code, input, package, data, reward, hardware, environment or seed."""

    kind: str
    name: str
    a: Any
    b: Any
    weight: float
    """From 0, explains nothing, to 1."""
    why: str = ""
    link: str = ""
    late: bool = False


@dataclass(frozen=True)
class Explanation:
    """The differences of two runs, the likeliest first, and what could not be compared."""

    differences: tuple[Difference, ...]
    missing: tuple[str, ...] = ()
    """What one or both runs did not write down."""
    note: str = ""

    @property
    def likely(self) -> tuple[Difference, ...]:
        """Those that weigh something."""
        return tuple(d for d in self.differences if d.weight >= NEGLIGIBLE)


def explain(comparison: Comparison) -> Explanation:
    """Rank what differs between two runs, with the records beside their logs, by where their curves part."""
    a, b = store.find(comparison.a.path), store.find(comparison.b.path)
    found = list(setting_differences(comparison.config))
    missing = [f"run {name}: no record" for name, context in (("a", a), ("b", b)) if context is None]
    if a is not None and b is not None:
        known = {(d.kind, d.name) for d in found}
        found += [d for d in differences(a, b) if (d.kind, d.name) not in known]
        missing += _unknown(a, b)
    placed = [_placed(d, comparison) for d in found]
    ranked = tuple(sorted(placed, key=lambda d: (-d.weight, d.kind, d.name)))
    return Explanation(ranked, tuple(missing), _note(ranked, comparison, complete=not missing))


def differences(a: Context, b: Context) -> tuple[Difference, ...]:
    """Return what differs between two records, the likeliest first."""
    found = [
        *setting_differences(config_differences(a.config, b.config)),
        *_code(a, b),
        *_packages(a.packages, b.packages),
        *_marks("data", a.data, b.data),
        *_marks("reward", a.rewards, b.rewards),
        *_hardware(a.hardware, b.hardware),
        *_table("environment", a.environment, b.environment, kind_weight("environment")),
    ]
    if a.seeds != b.seeds and not any(d.kind == "seed" for d in found):
        seed = kind_weight("seed").weight
        found.append(
            Difference("seed", "seed", _shown(a.seeds), _shown(b.seeds), seed, "a seed changes noise, not the cause")
        )
    return tuple(sorted(found, key=lambda d: (-d.weight, d.kind, d.name)))


def setting_differences(rows: Iterable[tuple[str, Any, Any]]) -> Iterator[Difference]:
    """Rank settings; names of one setting that differ alike are one difference.

    What a command names and its program writes down too (`--learning-rate` of one command, `learning_rate` of both
    programs) is one setting: where both values are known, the half of them under the other name is left out.
    """
    rows = list(rows)
    whole = {_plain(key): (str(x), str(y)) for key, x, y in rows if x is not None and y is not None}
    seen: set[tuple[str, str, str]] = set()
    for key, x, y in rows:
        name = canonical_name(key)
        if (x is None or y is None) and _plain(key) in whole:
            left, right = whole[_plain(key)]
            if (y is None and str(x) == left) or (x is None and str(y) == right):
                continue
        mark = (name, str(x), str(y))
        if mark in seen:
            continue
        seen.add(mark)
        if name == "seed" or key.lower().endswith("seed"):
            yield Difference("seed", key, x, y, kind_weight("seed").weight, "a seed changes noise, not the cause")
            continue
        weight = setting_weight(key)
        absent = 0.8 if x is None or y is None else 1.0  # it may be the default on both sides
        why = "not written down in one of the runs" if absent < 1 else ""
        yield _with(Difference("setting", key, x, y, weight.weight * size_of(x, y) * absent, why), weight)


def _plain(key: str) -> str:
    return canonical_name(key).replace("-", "_").lower()


def _code(a: Context, b: Context) -> Iterator[Difference]:
    weight = kind_weight("code").weight
    files = ", ".join(changed_files(a, b)[:6])
    if a.code.commit and b.code.commit and a.code.commit != b.code.commit:
        yield Difference("code", "commit", a.code.commit[:12], b.code.commit[:12], weight,
                         f"git diff {a.code.commit[:12]} {b.code.commit[:12]}")  # fmt: skip
    known = all(c.code.commit and not c.code.reason for c in (a, b))  # where nothing is known, nothing is clean either
    if known and a.code.diff_sha256 != b.code.diff_sha256:
        x, y = (f"{c.code.diff_bytes} bytes uncommitted" if c.code.diff_sha256 else "clean" for c in (a, b))
        yield Difference("code", "uncommitted changes", x, y, weight, f"touches {files}" if files else "")
    theirs = {one.path: one.sha256 for one in b.inputs}
    if a.code.commit and b.code.commit:
        return  # what the command names lies in the work tree, or is data
    for one in a.inputs:
        if theirs.get(one.path, one.sha256) != one.sha256:
            yield Difference("input", one.path, one.sha256[:12], theirs[one.path][:12], kind_weight("input").weight)


def changed_files(a: Context, b: Context) -> list[str]:
    """Return the files whose uncommitted changes differ between two records."""
    x, y = _hunks(a.code.diff), _hunks(b.code.diff)
    return sorted(name for name in {*x, *y} if x.get(name) != y.get(name))


def _hunks(diff: str) -> dict[str, str]:
    parts = ("\n" + diff).split("\ndiff --git ")[1:]
    return {part.split("\n", 1)[0].rpartition(" b/")[2]: part for part in parts}


def _packages(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Difference]:
    if not a or not b:
        return
    for name in sorted({*a, *b}):
        x, y = a.get(name, ""), b.get(name, "")
        if x != y:
            weight = package_weight(name)
            yield _with(Difference("package", name, x or None, y or None, weight.weight * version_step(x, y)), weight)


def _marks(kind: str, a: Iterable[Mark], b: Iterable[Mark]) -> Iterator[Difference]:
    weight = kind_weight(kind)
    x, y = ({m.path: m.sha256 for m in marks if m.sha256} for marks in (a, b))
    if not (x and y):
        return  # a run whose record holds no hash may well have used the same: `_unknown` says so
    for name in sorted({*x, *y}):
        # The same bytes under another name are the same data.
        if x.get(name) == y.get(name) or (name in x and x[name] in y.values()) or (name in y and y[name] in x.values()):
            continue
        shown = (x.get(name, "")[:12] or "none of this name", y.get(name, "")[:12] or "none of this name")
        yield _with(Difference(kind, name, *shown, weight.weight), weight)


def _hardware(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Difference]:
    kinds = {"gpus": "gpu", "processor": "processor", "machine": "processor", "python": "python", "cpus": "system",
             "system": "system", "release": "system", "libc": "system", "memory_bytes": "system"}  # fmt: skip
    for name, kind in kinds.items():
        if a and b and a.get(name) != b.get(name):
            weight = kind_weight(kind)
            size = version_step(str(a.get(name)), str(b.get(name))) if name == "python" else 1.0
            yield _with(
                Difference("hardware", name, _shown(a.get(name)), _shown(b.get(name)), weight.weight * size), weight
            )


def _table(kind: str, a: Mapping[str, str], b: Mapping[str, str], weight: Weight) -> Iterator[Difference]:
    for name in sorted({*a, *b}):
        if a.get(name) != b.get(name):
            factor = 0.3 if name in ("LANG", "LC_ALL", "TZ", "RAY_DEDUP_LOGS") else 1.0
            yield _with(Difference(kind, name, a.get(name), b.get(name), weight.weight * factor), weight)


def _with(difference: Difference, weight: Weight) -> Difference:
    return replace(difference, link=weight.link, late=weight.late, weight=round(difference.weight, 4))


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{k} = {v}" for k, v in value.items()) or "none"  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return "; ".join(str(v.get("name", v)) if isinstance(v, dict) else str(v) for v in value) or "none"  # pyright: ignore
    return value


def _unknown(a: Context, b: Context) -> list[str]:
    """Return what neither record, or only one, holds."""
    found: list[str] = []
    for name, context in (("a", a), ("b", b)):
        lacks = [what for what, there in (("code version", context.code.commit), ("seed", context.seeds),
                                          ("packages", context.packages)) if not there]  # fmt: skip
        found += [f"run {name}: no {what}" for what in lacks]
    for what, x, y in (("reward function", a.rewards, b.rewards), ("data", a.data, b.data)):
        hashed = [any(mark.sha256 for mark in marks) for marks in (x, y)]
        if not all(hashed):
            where = "" if not any(hashed) else f"run {'b' if hashed[0] else 'a'}: "
            found.append(f"{where}no hash of the {what}")
    return found


def _placed(difference: Difference, comparison: Comparison) -> Difference:
    """Weigh a difference by where and when the curves part first."""
    parted = [d for d in comparison.divergences if not d.metric.startswith("time/")]
    if not parted or difference.weight < NEGLIGIBLE:
        return difference
    weight, why = difference.weight, [difference.why] if difference.why else []
    first = parted[0]
    links = {_link(d.metric) for d in parted if d.onset.hi <= first.onset.hi}
    if difference.link and difference.link in links:
        weight, why = weight * SAME_LINK, [*why, f"acts on {difference.link}, where the curves part first"]
    if first.exact and not difference.late and difference.kind not in ("hardware", "environment"):
        weight, why = weight * AFTER_EQUALITY, [*why, "acts from the first update, and the runs were equal for a while"]
    return replace(difference, weight=round(min(weight, 1.0), 4), why="; ".join(why))


def _link(metric: str) -> str:
    spec = metrics().get(metric.partition("[")[0].partition("@")[0])
    return str(spec.link) if spec is not None else ""


def _note(ranked: tuple[Difference, ...], comparison: Comparison, *, complete: bool) -> str:
    """Return one sentence where the list alone would mislead."""
    likely = [d for d in ranked if d.weight >= NEGLIGIBLE]
    if likely and all(d.kind == "seed" for d in likely):
        known = "nothing else that was written down" if not complete else "nothing else"
        return f"Only the seed differs, {known}: compare several seeds of each before looking for a cause."
    if comparison.divergences and not likely:
        return "Nothing written down explains it: nondeterminism, or something that was not recorded."
    return ""
