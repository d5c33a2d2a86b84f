"""What an experiment declares to read is what its code can read: followed through the functions that it calls."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from firstbreak import experiments
from firstbreak.errors import InputError, UnknownNameError
from firstbreak.experiments import Experiment, all_experiments
from firstbreak.experiments.experiment import Option, experiment
from firstbreak.experiments.options import ARGUMENTS, insist_on_known, names_of

ROOT = Path(experiments.__file__).parent
READS = re.compile(r"""(?:given(?:\.get\(|\[)|(?:number|path|function)_of\([\w.]+, |offers\()["']([a-z_]+)["']""")
ENDS = re.compile(r"""\}(_setting|_argument)\"""")
SCORING = {"episodes", "mode"}
"""Read by what every trained subject has at hand, whether it is scored or not."""

Place = tuple[str, str]
"""File and name at its top level."""


@cache
def file(path: str) -> tuple[dict[str, ast.AST], dict[str, Place], str]:
    """The definitions of a file, and where the names come from that it imports from this package."""
    text = (ROOT / path).read_text("utf-8")
    defined: dict[str, ast.AST] = {}
    imported: dict[str, Place] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = (ROOT / path).parents[node.level - 1]
            there = folder.joinpath(*(node.module or "").split(".")).with_suffix(".py")
            if there.is_relative_to(ROOT) and there.is_file():
                imported |= {a.asname or a.name: (str(there.relative_to(ROOT)), a.name) for a in node.names}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
    return defined, imported, text


def reached(start: Place) -> set[Place]:
    """Every function and class that can be called from `start`; a class with all its methods."""
    found: set[Place] = set()
    left = [start]
    while left:
        path, name = place = left.pop()
        defined, imported, _ = file(path)
        if place in found or name not in defined:
            continue
        found.add(place)
        used = {n.id for n in ast.walk(defined[name]) if isinstance(n, ast.Name)}
        left += [(path, one) for one in used if one in defined] + [imported[one] for one in used if one in imported]
    return found


def read_by(one: Experiment) -> set[str]:
    """The names that the code of an experiment can read; endings as `*_setting`."""
    path = f"catalogue/{one.name.replace('-', '_')}.py"
    seen = reached((path, "measure"))
    names: set[str] = set()
    for there, name in seen:
        defined, _, text = file(there)
        part = ast.get_source_segment(text, defined[name]) or ""
        if isinstance(defined[name], ast.FunctionDef):  # its decorators hold the margin and the symptom
            part += "".join(ast.get_source_segment(text, d) or "" for d in defined[name].decorator_list)
        names |= set(READS.findall(part)) | {f"*{ending}" for ending in ENDS.findall(part)}
    return names


@pytest.mark.parametrize("one", all_experiments(), ids=lambda one: one.name)
def test_what_is_declared_is_what_can_be_read(one: Experiment) -> None:
    declared = {need.name for need in one.needs} - set(ARGUMENTS) | {option.name for option in one.options}
    can = read_by(one)
    assert declared <= can, f"declared, but read nowhere: {declared - can}"
    assert can - declared <= SCORING | {"*_argument"}, f"read, but not declared: {can - declared}"


def test_what_is_read_is_found_at_all() -> None:
    """The twin is no use when it finds nothing: all names that the text of the folder reads are somebody's."""
    every = {name for path in ROOT.rglob("*.py") for name in READS.findall(path.read_text("utf-8"))}
    assert len(every) > 25
    assert every <= set(names_of(all_experiments()))


def test_every_option_says_what_it_is_and_is_needed_by_nobody_else_alike() -> None:
    for one in all_experiments():
        names = [option.name for option in one.options]
        assert len(set(names)) == len(names)
        assert not set(names) & {need.name for need in one.needs}
        assert all(len(option.what) > 10 for option in one.options)


def test_an_ending_means_every_name_but_itself() -> None:
    option = Option("*_setting", "a name")
    assert option.means("learning_rate_setting")
    assert not option.means("_setting")
    assert not option.means("setting")
    assert Option("setting", "a name").means("setting")


def own(*options: Option) -> Experiment:
    like = all_experiments()[0]
    return experiment(
        "mine", hypothesis="h", changes="x", control=0, changed=1, prediction="p", needs=(), cost=like.cost,
        reading=like.reading, link=like.link, component=like.component, options=options,
    )(like.measure)  # fmt: skip


def test_an_experiment_of_ones_own_reads_what_it_declares_or_what_it_likes() -> None:
    insist_on_known({"anything": 1}, own())
    insist_on_known({"mine": 1}, own(Option("mine", "of my own")))
    with pytest.raises(UnknownNameError, match="'mne'"):
        insist_on_known({"mne": 1}, own(Option("mine", "of my own")))
    with pytest.raises(InputError, match="does not read expect"):
        insist_on_known({"expect": 1}, own(Option("mine", "of my own")))
