"""The face to share: one self-contained HTML file that needs no network, and a fragment for notebooks.

Whatever comes from a log passes two gates on its way into the page: control and direction characters are removed, then
the text is escaped. Only numbers formatted here and the files in `assets` enter as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..blame import whose_fault
from ..diagnosis import Diagnosis, RankedCause, Verdict
from ..finding import Finding
from ..patches import Patch
from . import html_curves, html_loop, words
from .clean import plain
from .redaction import setting
from .text import advice, confirmation_phrase, patch_line, remedy_phrase
from .text_full import nested

if TYPE_CHECKING:
    from jinja2 import Environment

SYMBOLS = {Verdict.BROKEN: "✗", Verdict.HEALTHY: "✓", Verdict.UNDECIDED: "?"}
MORE = 8
"""Curves shown at once; the others fold away."""


def page(diagnoses: Sequence[Diagnosis]) -> str:
    """Return a whole page for any number of runs."""
    template = environment().get_template("page.html")
    return template.render(
        runs=[_run(d, i) for i, d in enumerate(words.worst_first(diagnoses), 1)],
        css=asset("report.css"),
        js=asset("report.js"),
        version=__version__,
        title=words.verdict_phrase(diagnoses[0]) if len(diagnoses) == 1 else words.count(len(diagnoses), "run"),
    )


def fragment(diagnosis: Diagnosis) -> str:
    """Return the report as a piece of HTML with its style and without a script, for a notebook."""
    template = environment().get_template("fragment.html")
    return template.render(run=_run(diagnosis, 1), css=asset("report.css"))


@cache
def environment() -> Environment:
    """Return the templates of this package, escaping whatever they print."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_cleaned,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["commands"] = _with_commands
    return made


def _with_commands(text: str) -> Any:
    """Return escaped text in which a quoted firstbreak command is code to be copied."""
    from markupsafe import Markup, escape

    parts = [escape(part) for part in words.COMMAND.split(plain(text, 2000))]
    # Every part is escaped in the line above.
    return Markup("").join(Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts))


def _cleaned(value: Any) -> Any:
    """Strip what must not be shown from every text that a template prints; escaping follows."""
    from markupsafe import Markup

    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return plain(value, 2000)


def _read(name: str) -> str:
    return files("firstbreak.report").joinpath("assets").joinpath(name).read_text("utf-8")


def asset(name: str) -> Any:
    """Return a file of this package that enters a page as it is."""
    from markupsafe import Markup

    return Markup(_read(name))  # noqa: S704 - a file of this package, never data


def _numbers(text: str) -> Any:
    """Mark text made of formatted numbers as safe, so that its length is not cut."""
    from markupsafe import Markup, escape

    return Markup(escape(text))  # noqa: S704 - escaped in this line


def _run(diagnosis: Diagnosis, index: int) -> dict[str, Any]:
    """Return everything the templates print about one run."""
    log = diagnosis.log
    curves, start, end = html_curves.plots(diagnosis)
    _, _, blind = words.links_by_sight(diagnosis)
    return {
        "id": f"run-{index}",
        "diagnosis": diagnosis,
        "log": log,
        "name": words.short_path(log.path),
        "symbol": SYMBOLS[diagnosis.verdict],
        "verdict": words.verdict_phrase(diagnosis),
        "what": words.run_phrase(log),
        "broke": _broke(diagnosis),
        "advice": advice(diagnosis),
        "coverage": words.coverage_phrase(diagnosis),
        "unread": words.unread_phrase(diagnosis),
        "blind": blind,
        "loops": (("wide", html_loop.wide(diagnosis)), ("narrow", html_loop.narrow(diagnosis))),
        "causes": [_cause(diagnosis, cause) for cause in diagnosis.causes],
        "confirm": [confirmation_phrase(c) for c in diagnosis.confirm_with],
        "findings": [_finding(diagnosis, f, depth) for f, depth in nested(diagnosis.findings)],
        "plots": curves,
        "shown": MORE,
        "numbers": _numbers,
        "count": words.count,
        "whose_fault": whose_fault,
        "size": (html_curves.WIDTH, html_curves.HEIGHT),
        "axis": (start, end, words.number(start), words.number(end), words.CLOCK_WORDS.get(log.clock, log.clock)),
        "skipped": [s for s in diagnosis.coverage.skipped if s.applies],
        "beside": [s.name for s in diagnosis.coverage.skipped if not s.applies],
        "config": sorted((str(k), setting(str(k), v, 2000)) for k, v in log.config.items()),
        "unknown": [(key, log.guesses.get(key, "")) for key in sorted(log.unmapped)],
    }


def _broke(diagnosis: Diagnosis) -> tuple[str, str, str] | None:
    """Return the name, message and time of the finding that shows the break, or None."""
    first = diagnosis.first_break
    if first is None:
        return None
    shown = next((f for f in diagnosis.findings if f.rule == first.rule and f.scope == first.scope), None)
    message = shown.message if shown is not None else ""
    return first.name, message, words.onset_phrase(first.onset, diagnosis.log)


def _cause(diagnosis: Diagnosis, cause: RankedCause) -> dict[str, Any]:
    return {
        "cause": cause,
        "explains": words.explained(cause, diagnosis.findings),
        "separation": words.separation(cause),
        "prove": [confirmation_phrase(c) for c in cause.confirm_with],
        "remedies": [
            (remedy_phrase(r), r.provisional, [(p.title, p.source, _copied(p)) for p in r.patches])
            for r in cause.remedies
        ],
    }


def _copied(patch: Patch) -> Any:
    """Return the lines of a patch, cleaned and escaped, with their indentation."""
    from markupsafe import Markup, escape

    return Markup("\n").join(escape(patch_line(line)) for line in patch.lines)


def _finding(diagnosis: Diagnosis, finding: Finding, depth: int) -> dict[str, Any]:
    evidence = [
        (name, words.number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value))
        for name, value in finding.evidence.items()
    ]
    return {
        "finding": finding,
        "depth": min(depth, 3),
        "when": words.onset_phrase(finding.onset, diagnosis.log),
        "evidence": evidence,
        "scope": str(finding.scope),
    }
