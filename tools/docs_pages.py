"""Pages made from the code: rules, metrics, causes, command line. Plain Markdown, one function a page."""

from __future__ import annotations

import importlib
import os
import re
from argparse import _SubParsersAction
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from firstbreak.cause import Cause
from firstbreak.causes import all_causes
from firstbreak.check import FAMILIES, Check, all_checks, checks_of
from firstbreak.cli.arguments import top_parser
from firstbreak.cli.commands import COMMANDS
from firstbreak.experiments.settle.commands import template_of
from firstbreak.finding import LOOP, Link
from firstbreak.registry import all_rules
from firstbreak.rule import Rule
from firstbreak.vocabulary import MetricSpec, framework, framework_names, metrics
from firstbreak.vocabulary._names import KeyName

MADE = "<!-- Made from the code by `make docs`; do not edit. -->\n\n"


def cell(text: object) -> str:
    """Text that may stand in a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell(c) for c in line) + " |\n" for line in lines) + "\n"


def rules_index() -> str:
    """docs/rules.md: every rule by link."""
    parts = [MADE, "# Rules\n\n", f"{len(all_rules())} rules. `firstbreak explain NAME` prints the page of one.\n\n"]
    for link in LOOP:
        mine = [r for r in all_rules() if r.link is link]
        if mine:
            rows = [(r.code, f"`{r.name}`", r.severity, r.claim) for r in mine]
            parts += [f"## {link.value}\n\n", table(("code", "name", "severity", "claim"), rows)]
    return "".join(parts)


def rule_page(rule: Rule) -> str:
    """The page of one rule: its docstring, parameters, metrics and cases."""
    facts = [
        ("code", f"`{rule.code}`"),
        ("link", rule.link),
        ("component", rule.component),
        ("severity", rule.severity),
        ("status", f"{rule.status}, since {rule.since}"),
        ("judges", "single rows" if rule.static else "trends"),
        ("algorithms", ", ".join(f"`{t}`" for t in rule.when) or "any"),
    ]
    facts += [("in a monitor", "an alarm only once the return is lost")] if rule.with_loss else []
    parts = [MADE, f"# {rule.name}\n\n", table(("", ""), list(facts)), headed(rule.doc), "\n\n"]
    parts += ["## Parameters\n\n", table(("name", "default", "meaning and source"), parameters(rule))]
    wanted = [(metric_link(m), "yes") for m in rule.needs]
    wanted += [(" or ".join(metric_link(m) for m in group), "one of them") for group in rule.any_of]
    wanted += [(f"`{key}` (configuration)", "yes") for key in rule.needs_config]
    parts += ["## What it needs\n\n", table(("metric", "needed"), list(wanted))]
    parts += ["## Cases\n\n", table(("case", "answer"), [(c.name, c.expect.replace("_", " ")) for c in rule.cases])]
    parts += related(rule)
    return "".join(parts)


def checks_index() -> str:
    """docs/checks.md: every check by family."""
    parts = [
        MADE,
        "# Checks\n\n",
        f"{len(all_checks())} checks before a run. `firstbreak explain NAME` prints a page.\n\n",
    ]
    for family in FAMILIES:
        rows = [(c.code, f"`{c.name}`", c.link.value, c.severity, c.claim) for c in checks_of(family)]
        parts += [f"## {family}\n\n", table(("code", "name", "link", "severity", "claim"), list(rows))]
    return "".join(parts)


def check_page(check: Check) -> str:
    """The page of one check: its docstring and what it points at."""
    facts = [
        ("code", f"`{check.code}`"),
        ("family", check.family),
        ("link", check.link),
        ("component", check.component),
        ("severity", check.severity),
        ("do first", check.fix),
        ("a consequence of", ", ".join(f"`{n}`" for n in check.explained_by) or "–"),
    ]
    return "".join([MADE, f"# {check.name}\n\n", table(("", ""), list(facts)), headed(check.doc), "\n"])


def headed(doc: str) -> str:
    """A rule's docstring with its `Heading:` lines as headings."""
    return re.sub(r"^(\w[\w ]+):\n", r"## \1\n\n", doc.strip(), flags=re.MULTILINE).replace("\n    ", "\n")


def parameters(rule: Rule) -> list[tuple[object, ...]]:
    """Name, default and meaning of each parameter."""
    return [(f"`{f.name}`", getattr(rule.params, f.name), rule.param_docs[f.name]) for f in fields(rule.params)]


def related(rule: Rule) -> Iterator[str]:
    """Links to what usually follows and to the causes that the rule speaks for."""
    names = {r.name for r in all_rules()}
    follows = [f"[{n}]({n}.md)" for n in rule.implies if n in names]
    causes = [f"[{c.name}](../causes.md#{c.name})" for c in all_causes() if c.explains.get(rule.name, 0) >= 1]
    if follows:
        yield f"## What usually follows\n\n{', '.join(follows)}\n\n"
    if causes:
        yield f"## Causes that it speaks for\n\n{', '.join(causes)}\n"


def anchor(metric: str) -> str:
    """Anchor of a metric on its page."""
    return metric.replace("/", "-")


def metric_link(metric: str) -> str:
    """Link from a rule's page to a metric."""
    return f"[`{metric}`](../metrics.md#{anchor(metric)})"


def metrics_page() -> str:
    """docs/metrics.md: every canonical metric with the frameworks' keys for it."""
    keys = framework_keys()
    parts = [MADE, "# Metrics\n\n", "The canonical metrics, and the keys under which frameworks log them.\n\n"]
    for link in LOOP:
        mine = [m for m in metrics().values() if m.link == link.value]
        rows = [metric_row(m, keys.get(m.name, {})) for m in mine]
        if rows:
            parts += [f"## {link.value}\n\n", table(("metric", "unit", "range", "better", "meaning", "keys"), rows)]
    return "".join(parts)


def metric_row(spec: MetricSpec, keys: Mapping[str, list[str]]) -> tuple[object, ...]:
    """One line of the table of metrics."""
    bounds = "" if spec.lo == -spec.hi == float("-inf") else f"{spec.lo:g} … {spec.hi:g}"
    known = "; ".join(f"{f}: " + ", ".join(f"`{k}`" for k in names) for f, names in sorted(keys.items()))
    return (f'<a id="{anchor(spec.name)}"></a>`{spec.name}`', spec.unit, bounds, spec.better, spec.meaning, known)


def framework_keys() -> dict[str, dict[str, list[str]]]:
    """For each metric, each framework's keys and patterns, as `vocabulary/names/*.toml` lists them."""
    found: dict[str, dict[str, list[str]]] = {}
    for name in framework_names():
        for key in framework(name).keys:
            mine = found.setdefault(key.metric, {}).setdefault(name, [])
            if spelled(key) not in mine:
                mine.append(spelled(key))
    return found


def spelled(key: KeyName) -> str:
    """A source key, or the pattern that stands for several."""
    return key.exact or (f"/{key.pattern}/" if key.pattern else "")


def frameworks_page() -> str:
    """What each framework's keys mean, and how sure that is."""
    parts = [MADE, "# Frameworks\n\n"]
    for name in framework_names():
        known = framework(name)
        seen = "checked against real logs" if known.verified else "from the source code; no real log was read yet"
        parts.append(f"## {known.title}\n\nVersions: {known.versions}. {seen.capitalize()}.\n\n")
        rows = [
            (f"`{spelled(k)}`", f"`{k.metric}`", k.transform, k.timing.replace("_", " "), k.note) for k in known.keys
        ]
        parts.append(table(("key", "metric", "transform", "timing", "note"), list(rows)))
    return "".join(parts)


def causes_page() -> str:
    """The causes with what speaks for them, how to prove them and what to do."""
    parts = [MADE, "# Causes\n\n", "Hypotheses that tie findings together. Each is named with its rivals.\n\n"]
    for link in LOOP:
        mine = [c for c in all_causes() if c.link is link]
        parts += [f"## {link.value}\n\n"] * bool(mine) + [cause_section(c) for c in mine]
    return "".join(parts)


def cause_section(cause: Cause) -> str:
    """One cause."""
    known = {r.name for r in all_rules()}
    weights = sorted(cause.explains.items(), key=lambda item: -item[1])
    spoken = ", ".join((f"[{n}](rules/{n}.md)" if n in known else f"`{n}`") + f" ({w:g})" for n, w in weights)
    parts = [f'<a id="{cause.name}"></a>\n### {cause.name}\n\n{cause.summary}\n\n', f"Speaks for it: {spoken}.\n\n"]
    made = ((e, e.command or template_of(e.name)) for e in cause.experiments)
    parts += [f"- Experiment *{e.name}*: {e.recipe}{by_command(command)}\n" for e, command in made]
    parts += [f"- Remedy: {f.text}{after_looks(f.requires)}\n" for f in cause.fixes]
    return "".join(parts) + "\n"


def by_command(command: str | None) -> str:
    """The command that makes an experiment."""
    return f" Command: `{command}`." if command else ""


def after_looks(links: tuple[Link, ...]) -> str:
    """What must have been looked at before a remedy."""
    return f" (first look at: {', '.join(links)})" if links else ""


def parsers() -> dict[str, Any]:
    """The argument parser of each command."""
    _, subparsers = top_parser()
    found: dict[str, Any] = {}
    for name, (module, line) in COMMANDS.items():
        found[name] = subparsers.add_parser(name, help=line, description=line)
        importlib.import_module(module).add(found[name])
    return found


def options() -> set[str]:
    """Every option of the command line."""
    each = [top_parser()[0], *(p for parser in parsers().values() for p in with_parts(parser))]
    return {option for parser in each for action in parser._actions for option in action.option_strings}


def with_parts(parser: Any) -> list[Any]:
    """A parser, the parsers of its subcommands, and theirs."""
    inner = [
        p
        for action in parser._actions
        if isinstance(action, _SubParsersAction)
        for p in action._name_parser_map.values()
    ]
    return [parser, *(deeper for p in inner for deeper in with_parts(p))]


def cli_page() -> str:
    """The help of every command."""
    os.environ.update(COLUMNS="100", NO_COLOR="1")
    each = [p for parser in parsers().values() for p in with_parts(parser)]
    helps = [f"## {p.prog}\n\n```text\n{p.format_help().strip()}\n```\n\n" for p in each]
    return MADE + "# The command line\n\n" + "".join(helps)
