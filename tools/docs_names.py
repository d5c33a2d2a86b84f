"""Finds names in the hand-written pages that do not exist: rules, codes, metrics, causes, options, make targets."""

from __future__ import annotations

import re
from pathlib import Path

from firstbreak.causes import all_causes
from firstbreak.check import all_checks
from firstbreak.cli.commands import COMMANDS
from firstbreak.errors import unknown_name
from firstbreak.experiments.experiment import names as experiment_names
from firstbreak.registry import all_rules
from firstbreak.vocabulary import metrics
from tools.docs_pages import framework_keys, options

CODE = re.compile(r"(ENV|RWD|EVA|CRT|POL|EXP|DAT|NUM|SYS|PEN|POC|PRW|PTK|PDT|PME|INV|PRB)\d{3}")
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
METRIC = re.compile(r"[a-z_]+/[a-z][a-z0-9_]+")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
MAKE = re.compile(r"\bmake ([a-z][a-z-]*)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")


def makefile_targets(root: Path) -> set[str]:
    """Targets of the Makefile."""
    return set(re.findall(r"^([a-z][a-z-]*):", (root / "Makefile").read_text("utf-8"), re.MULTILINE))


class Known:
    """Every name that a page may use."""

    def __init__(self, root: Path) -> None:
        self.codes = {r.code for r in all_rules()} | {c.code for c in all_checks()}
        self.metrics = set(metrics()) | {k for names in framework_keys().values() for ks in names.values() for k in ks}
        self.prefixes = {name.split("/")[0] for name in metrics()}
        self.targets = makefile_targets(root)
        packages = set(re.findall(r'"([a-z0-9-]+)[<>=\[]', (root / "pyproject.toml").read_text("utf-8")))
        self.kebab = {x.name for x in (*all_rules(), *all_checks(), *all_causes())} | self.targets | packages
        self.kebab |= set(experiment_names())
        self.options = options()
        self.commands = set(COMMANDS)

    def wrong(self, text: str) -> list[str]:
        """What is unknown in a page, each with the nearest known name."""
        fences = FENCE.findall(text)
        inline = INLINE.findall(FENCE.sub("", text))
        ours = [c for c in inline if c.startswith(("--", "firstbreak "))]
        ours += [line for block in fences for line in block.splitlines() if re.match(r"(\$ )?firstbreak ", line)]
        found: list[str] = []
        for code in inline:
            if CODE.fullmatch(code) and code not in self.codes:
                found.append(complaint("rule", code, self.codes))
            elif KEBAB.fullmatch(code) and code not in self.kebab:
                found.append(complaint("rule, cause or make target", code, self.kebab))
            elif METRIC.fullmatch(code) and code.split("/")[0] in self.prefixes and code not in self.metrics:
                found.append(complaint("metric", code, self.metrics))
        for code in ours:
            found += [complaint("option", o, self.options) for o in OPTION.findall(code) if o not in self.options]
            command = re.match(r"(?:\$ )?firstbreak ([a-z]+)\b", code)
            if command and command[1] not in self.commands:
                found.append(complaint("command", command[1], self.commands))
        for target in MAKE.findall("\n".join([*(c for c in inline if c.startswith("make ")), *fences])):
            if target not in self.targets:
                found.append(complaint("make target", target, self.targets))
        return found


def complaint(what: str, name: str, known: set[str]) -> str:
    """One line about an unknown name."""
    error = unknown_name(what, name, sorted(known))
    return f"{error.message} {error.hint}".strip()


def hand_pages(root: Path) -> list[Path]:
    """Pages written by hand, whose names are checked."""
    top = [
        root / name for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md") if (root / name).exists()
    ]
    return top + sorted((root / "docs").rglob("*.md"))


def wrong_names(root: Path) -> list[str]:
    """Every unknown name in the hand-written pages, with its page."""
    known = Known(root)
    return [f"{p.relative_to(root)}: {w}" for p in hand_pages(root) for w in known.wrong(p.read_text("utf-8"))]
