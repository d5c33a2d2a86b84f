"""What every rule owes its reader: one file, a page, sources for its numbers, known names, short messages."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

import firstbreak.rules
from firstbreak.custom import PREFIX as DECLARED
from firstbreak.finding import Link
from firstbreak.rule import Rule, Status
from firstbreak.vocabulary import TRAITS, metrics
from tests.rules.runs import FIRING, RULES, Named, log_of, outcome_of, read_by

PREFIX = {
    Link.ENVIRONMENT_DATA: "ENV",
    Link.REWARD_SIGNAL: "RWD",
    Link.EVALUATION_PROTOCOL: "EVA",
    Link.CRITIC: "CRT",
    Link.POLICY_UPDATE: "POL",
    Link.EXPLORATION: "EXP",
    Link.DATA_FRESHNESS: "DAT",
    Link.NUMERICS: "NUM",
    Link.SYSTEM_RESOURCES: "SYS",
}
HEADINGS = (
    "What it means:",
    "Why it matters:",
    "Usual causes:",
    "What to try:",
    "When it is harmless:",
    "References:",
)
SOURCE = re.compile(r"\b(19|20)\d\d\b|arXiv|https?://|Engineering default|calibrated|by definition", re.IGNORECASE)
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
each_firing = pytest.mark.parametrize("named", FIRING, ids=str)


@each_rule
def test_file_folder_and_code_follow_from_name_and_link(rule: Rule) -> None:
    assert rule.module == f"firstbreak.rules.{rule.link.value}.{rule.name.replace('-', '_')}"
    assert re.fullmatch(rf"{PREFIX[rule.link]}\d{{3}}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)


def test_every_file_of_the_folder_is_a_rule() -> None:
    root = Path(firstbreak.rules.__file__).parent
    modules = {p.relative_to(root) for p in root.rglob("*.py") if p.name != "__init__.py"}
    assert modules == {Path(*r.module.split(".")[2:]).with_suffix(".py") for r in RULES}


@each_rule
def test_the_page_has_its_headings_in_order_each_with_text(rule: Rule) -> None:
    places = [rule.doc.find(heading) for heading in HEADINGS]
    assert -1 not in places, [h for h, p in zip(HEADINGS, places, strict=True) if p < 0]
    assert places == sorted(places)
    for heading, begin, end in zip(HEADINGS, places, [*places[1:], len(rule.doc)], strict=True):
        assert len(rule.doc[begin + len(heading) : end].strip()) > 10, f"{heading} says nothing"
    assert rule.claim.endswith(".")
    assert len(rule.claim) <= 120


@each_rule
def test_every_parameter_has_its_meaning_and_a_source(rule: Rule) -> None:
    """The source may stand under the field, or once for all in the docstring of `Params`."""
    overall = sourced(type(rule.params).__doc__ or "")
    docs = {f.name: rule.param_docs.get(f.name, "") for f in fields(rule.params)}
    assert [name for name, doc in docs.items() if len(doc) < 10] == []
    unsourced = [name for name, doc in docs.items() if not (overall or sourced(doc))]
    assert not unsourced, (
        f"{unsourced}: the text under the field (or the docstring of Params, for all) names a source: author and year, "
        "arXiv id or URL; or says 'Engineering default', 'calibrated on ...' or 'by definition'"
    )


def sourced(text: str) -> bool:
    return SOURCE.search(" ".join(text.split())) is not None


@each_rule
def test_metrics_and_traits_exist(rule: Rule) -> None:
    assert set(rule.metrics) - set(metrics()) == set()
    assert set(rule.when) - set(TRAITS) == set()


def test_what_rules_imply_exists() -> None:
    names = {r.name for r in RULES}
    unresolved = {r.name: sorted(set(r.implies) - names) for r in RULES if set(r.implies) - names}
    assert unresolved == {}
    assert [r.name for r in RULES if r.name in r.implies] == []


@each_firing
def test_a_finding_is_short_numeric_and_placed(named: Named) -> None:
    log = log_of(named)
    for finding in outcome_of(named).findings:
        assert len(finding.message) <= 120, finding.message
        assert re.search(r"\d", finding.message), finding.message
        assert finding.metric == "" or known(finding.metric)
        assert finding.onset.lo <= finding.onset.hi <= max(log.last_step, 0)
        assert finding.evidence
        for key, value in finding.evidence.items():
            assert re.fullmatch(r"[a-z][a-z0-9_]*", key), key
            assert isinstance(value, str | int | float), f"{key} is a {type(value).__name__}"


@each_firing
def test_only_known_metrics_are_asked_for(named: Named) -> None:
    assert {name for name in read_by(named.of, log_of(named)) if not known(name)} <= {""}


def known(metric: str) -> bool:
    """Whether a metric is canonical, or declared by the user."""
    return metric in metrics() or metric.startswith(DECLARED)


@pytest.mark.parametrize("named", [c for c in FIRING if c.of.status is Status.PREVIEW], ids=str)
def test_a_preview_rule_speaks_at_info_only(named: Named) -> None:
    assert {f.severity.value for f in outcome_of(named).findings} == {"info"}
