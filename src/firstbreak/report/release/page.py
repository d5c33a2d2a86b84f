"""The page of a release: one self-contained HTML file that a reviewer can read."""

from __future__ import annotations

from importlib.resources import files
from typing import Any
from urllib.parse import quote

from ... import __version__
from ...context.gathering import now
from ...release.building import Release
from ...release.evidence import Group, Run, Stored
from ...release.results import final_score
from ...release.ruling import Ruled
from ..audit.html import section
from ..html import asset, environment
from ..inspection import words as inspection_words
from ..words import CLOCK_WORDS, count, number
from . import plots, words

CLASSES = {Ruled.GOOD: "good", Ruled.BAD: "bad-ruling", Ruled.MISSING: "missing", Ruled.NOT_ASKED: "not-asked"}


def page(release: Release) -> str:
    """Return the whole page; every text is cleaned and escaped."""
    from markupsafe import Markup

    evidence = release.evidence
    return (
        environment()
        .from_string(_read("page.html"))
        .render(
            release=release,
            evidence=evidence,
            headline=words.headline(release),
            facts=_facts(release),
            missing=[(rule, ruling) for rule, ruling in release.rulings if ruling.ruled is Ruled.MISSING],
            marks=words.MARKS,
            classes=CLASSES,
            groups=[_group(release, group) for group in evidence.results.groups],
            runs=[_run(release, run) for run in evidence.runs],
            gain=words.gain(evidence.selection),
            private=words.change(evidence.private),
            reward=words.change(evidence.reward),
            audit=_audit(release),
            checkpoints=[_stored(one) for one in evidence.checkpoints],
            lists=(
                ("Before training", evidence.before),
                ("During training", evidence.during),
                ("After training", release.after),
            ),
            interval=words.interval,
            css=asset("report.css"),
            own_css=Markup(_read("page.css")),  # noqa: S704 - a file of this package, never data
            version=__version__,
            created=now(),
        )
    )


def _read(name: str) -> str:
    return files("firstbreak.report.release").joinpath(name).read_text("utf-8")


def _facts(release: Release) -> str:
    runs = release.evidence.runs
    algorithms = sorted({run.algorithm or "algorithm not recognised" for run in runs})
    frameworks = sorted({run.diagnosis.log.framework or "framework not recognised" for run in runs})
    compared = f", compared with {count(len(release.evidence.baseline), 'run')}" if release.evidence.baseline else ""
    return f"{count(len(runs), 'run')} of {', '.join(algorithms)} ({', '.join(frameworks)}){compared}"


def _group(release: Release, group: Group) -> dict[str, Any]:
    word = CLOCK_WORDS.get(group.clock, group.clock)
    return {
        "group": group,
        "title": words.group_title(group),
        "iqm": words.interval(group.iqm, len(group.scores)),
        "mean": words.interval(group.mean, len(group.scores)),
        "improvement": "" if group.improvement is None else words.interval(group.improvement),
        "at": f"{word} {number(group.horizon)}",
        "seeds": plots.seeds(group),
        "profile": plots.profiles(group),
        "curves": plots.curves(release.evidence.runs, group),
        "key": plots.key(release.evidence.runs, group),
    }


def _run(release: Release, run: Run) -> dict[str, str]:
    group = next((g for g in release.evidence.results.groups if run.name in g.runs), None)
    chosen = release.evidence.selection
    fresh = dict(zip(chosen.runs, chosen.fresh, strict=True))
    code = run.context.code if run.context is not None else None
    commit = code.commit[:10] + (" + changes" if code.diff_sha256 else "") if code is not None else ""
    return {
        "name": run.name,
        "seed": run.seed or "not recorded",
        "score": number(final_score(run, group.horizon)) if group is not None else "–",
        "best": number(run.best) if run.score.size else "–",
        # Scores of another protocol do not stand beside those of training.
        "fresh": ("not compared" if chosen.apart else number(fresh[run.name])) if run.name in fresh else "–",
        "steps": number(run.last_step),
        "ended": words.ended(run),
        "code": commit or "not recorded",
    }


def _stored(one: Stored) -> dict[str, str]:
    return {
        "role": one.role,
        "run": one.run,
        "step": "–" if one.step is None else number(one.step),
        "score": "–" if one.score is None else number(one.score),
        "size": words.size(one.size_bytes),
        "sha256": one.sha256,
        "inside": one.copied_to,
        "href": quote(one.copied_to),
        "path": one.path,
        "how": one.how if one.structure is None else f"{one.how}; {one.structure}",
    }


def _audit(release: Release) -> dict[str, Any] | None:
    from markupsafe import Markup

    seen = release.evidence.samples
    if seen is None:
        return None
    return {
        "headline": inspection_words.headline(seen),
        "coverage": inspection_words.coverage(seen),
        "samples": Markup(section(release.shown)) if release.shown else "",  # noqa: S704 - escaped by its template
    }
