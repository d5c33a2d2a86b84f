"""Pages of reference in the terminal: rules, metrics and causes explain themselves from their own definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

from ..cause import Cause
from ..causes import all_causes
from ..check import Check, all_checks
from ..errors import UnknownNameError, unknown_name
from ..registry import all_rules
from ..rule import Rule, Status
from ..vocabulary import MetricSpec, metrics
from .page import PLAIN, Face, Page
from .words import number

STATUSES = {
    Status.PREVIEW: "preview: a note only, until a severity is set for it (firstbreak explain settings)",
    Status.DEPRECATED: "deprecated: it will go",
}


def explain(name: str, topics: Sequence[str] = (), face: Face = PLAIN) -> str:
    """Return the page of the rule, check, metric or cause called `name`.

    Raises:
        UnknownNameError: nothing is called so; the hint offers the nearest names.
    """
    page = Page(face)
    wanted = name.strip().lower()
    found = False
    for rule in all_rules():
        if wanted in (rule.name, rule.code.lower()):
            _rule(page, rule)
            found = True
    for check in () if found else all_checks():
        if wanted in (check.name, check.code.lower()):
            _check(page, check)
            found = True
    for cause in all_causes():
        if wanted == cause.name:
            if found:
                page.line()
            _cause(page, cause)
            found = True
    spec = metrics().get(wanted)
    if spec is not None:
        _metric(page, spec)
        found = True
    if not found:
        rules = [r.name for r in all_rules()] + [r.code for r in all_rules()]
        checks = [c.name for c in all_checks()] + [c.code for c in all_checks()]
        known = [*rules, *checks, *(c.name for c in all_causes()), *metrics(), *topics]
        error = unknown_name("rule, check, metric, cause or topic", name, known)
        listed = (
            "List them: firstbreak rules, firstbreak checks, firstbreak experiment. Say what you see: firstbreak start."
        )
        raise UnknownNameError(error.message, error.hint or listed)
    return page.text()


def _rule(page: Page, rule: Rule) -> None:
    page.line(f"{rule.name} ({rule.code}), a rule of {rule.link}", style="bold")
    page.line(rule.claim)
    page.line()
    _prose(page, rule.doc.split("\n", 1)[1] if "\n" in rule.doc else "")
    page.heading("What it looks at")
    if rule.needs:
        page.entry("needs", ", ".join(rule.needs))
    for group in rule.any_of:
        page.entry("one of", ", ".join(group))
    if rule.needs_config:
        page.entry("config", ", ".join(rule.needs_config))
    if rule.when:
        page.entry("when", f"the algorithm: {', '.join(rule.when)}")
    page.entry("level", f"{rule.severity}, component {rule.component}")
    if rule.with_loss:
        page.entry("monitor", "a warning is an alarm only once the return is lost")
    if rule.status is not Status.STABLE:
        page.entry("status", STATUSES[rule.status])
    if rule.implies:
        page.entry("implies", ", ".join(rule.implies))
    told = [c.name for c in all_causes() if rule.name in c.explains]
    if told:
        page.entry("causes", ", ".join(told))
    parameters = asdict(rule.params)
    if parameters:
        page.heading("Parameters (set them in firstbreak.toml)")
        for key, value in parameters.items():
            page.entry("", f"{key} = {value}")
            page.entry("", " ".join(rule.param_docs.get(key, "").split()), indent=2)


def _check(page: Page, check: Check) -> None:
    page.line(f"{check.name} ({check.code}), a check of the {check.family}", style="bold")
    page.line(check.claim)
    page.line()
    _prose(page, check.doc.split("\n", 1)[1] if "\n" in check.doc else "")
    page.line()
    page.entry("link", check.link.value)
    page.entry("level", f"{check.severity}, component {check.component}")
    page.entry("do", check.fix)
    if check.explained_by:
        page.entry("follows", ", ".join(check.explained_by))


def _prose(page: Page, doc: str) -> None:
    """Add the sections of a docstring: titles flush, text indented, each paragraph re-wrapped."""
    paragraph: list[str] = []

    def flush() -> None:
        if paragraph:
            page.entry("", " ".join(paragraph))
            paragraph.clear()

    for line in doc.splitlines():
        text = line.strip().replace("**", "")
        if not text:
            flush()
        elif not line.startswith(" ") and text.endswith(":"):
            flush()
            page.line(text.rstrip(":"), style="bold")
        else:
            paragraph.append(text)
    flush()


def _metric(page: Page, spec: MetricSpec) -> None:
    page.line(f"{spec.name}, a metric of {spec.link}", style="bold")
    page.line(spec.meaning)
    page.entry("unit", spec.unit)
    if math.isfinite(spec.lo) or math.isfinite(spec.hi):
        page.entry("bounds", f"{number(spec.lo)} to {number(spec.hi)}; a value outside is a logging error")
    if spec.better:
        page.entry("better", spec.better)
    if spec.family:
        page.entry("family", f"one series for each {spec.family}")
    using = [rule.name for rule in all_rules() if spec.name in rule.metrics]
    page.entry("rules", ", ".join(using) if using else "none needs it")
    page.entry("map", f"firstbreak diagnose PATH --map your/key={spec.name}")


def _cause(page: Page, cause: Cause) -> None:
    page.line(f"{cause.name}, a cause in {cause.link} ({cause.component})", style="bold")
    page.line(cause.summary)
    page.heading("Speaks for it")
    for name, weight in sorted(cause.explains.items(), key=lambda item: -item[1]):
        page.entry("", f"{name} ({'decisive' if weight >= 3 else 'typical' if weight >= 1 else 'usual consequence'})")
    if cause.expects:
        page.entry("against", f"looked and clear: {', '.join(cause.expects)}")
    page.heading("Prove it")
    for experiment in cause.experiments:
        page.entry("", f"{experiment.name}: {experiment.recipe}")
    page.heading("Do, in this order")
    for fix in cause.fixes:
        needs = f" (look first at {', '.join(fix.requires)})" if fix.requires else ""
        page.entry("", fix.text + needs)
    if cause.separate_with:
        page.entry("apart", f"told from its rivals by {', '.join(cause.separate_with)}")


def rules_table(rules: Sequence[Rule], face: Face = PLAIN) -> str:
    """Return the rules, two lines each at most, under the link they belong to."""
    page = Page(face)
    link = ""
    for rule in rules:
        if rule.link.value != link:
            link = rule.link.value
            page.heading(f"{link} ({sum(r.link is rule.link for r in rules)})")
        level = rule.severity.value if rule.status is Status.STABLE else rule.status.value
        page.entry(rule.code, f"{rule.name} ({level}): {rule.claim}", most=2)
    return page.text()


def metrics_table(face: Face = PLAIN) -> str:
    """Return every canonical metric, two lines each at most, under the link it belongs to."""
    page = Page(face)
    for link in dict.fromkeys(spec.link for spec in metrics().values()):
        specs = [spec for spec in metrics().values() if spec.link == link]
        page.heading(f"{link} ({len(specs)})")
        for spec in specs:
            page.entry("", f"{spec.name}: {spec.meaning}", most=2)
    return page.text()


def checks_table(checks: Sequence[Check], face: Face = PLAIN) -> str:
    """Return the checks, two lines each at most, under the family they belong to."""
    page = Page(face)
    family = ""
    for check in checks:
        if check.family != family:
            family = check.family
            page.heading(f"{family} ({sum(c.family == family for c in checks)})")
        page.entry(check.code, f"{check.name} ({check.severity.value}): {check.claim}", most=2)
    return page.text()
