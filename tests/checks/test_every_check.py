"""What holds for every check, whichever family it belongs to."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import pytest

from firstbreak.causes import all_causes
from firstbreak.check import FAMILIES, Check, all_checks, checks_of, find_check
from firstbreak.errors import UnknownNameError
from firstbreak.registry import all_rules

CHECKS = all_checks()
PREFIX = {
    "environment": "PEN",
    "policy": "POC",
    "reward": "PRW",
    "task": "PTK",
    "data": "PDT",
    "memory": "PME",
    "invariants": "INV",
    "tokens": "TOK",
    "probes": "PRB",
    "token-probes": "TPR",
    "samples": "AUD",
    "trajectories": "TRJ",
    "verifier": "VER",
    "reward-model": "RWM",
}


@pytest.fixture(params=CHECKS, ids=lambda c: c.name)
def one(request: pytest.FixtureRequest) -> Check:
    return request.param


def test_every_family_has_checks() -> None:
    assert set(PREFIX) == set(FAMILIES)
    assert all(checks_of(family) for family in FAMILIES)


def test_names_and_codes_are_unique_among_rules_checks_and_causes() -> None:
    names = [x.name for x in (*all_rules(), *CHECKS)]
    codes = [x.code for x in (*all_rules(), *CHECKS)]
    assert sorted({n for n in names if names.count(n) > 1}) == []
    assert sorted({c for c in codes if codes.count(c) > 1}) == []
    assert {c.name for c in all_causes()}.isdisjoint(c.name for c in CHECKS)


def test_a_name_is_kebab_case_and_the_file_is_called_after_it(one: Check) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", one.name)
    if one.family not in ("probes", "token-probes"):  # a rung's file is called after its task, as the ladder shows it
        assert one.module.rpartition(".")[2] == one.name.replace("-", "_")


def test_a_code_belongs_to_its_family(one: Check) -> None:
    assert re.fullmatch(PREFIX[one.family] + r"\d{3}", one.code)


def test_a_page_begins_with_one_sentence_and_says_when_it_is_harmless(one: Check) -> None:
    assert one.claim.endswith(".")
    assert len(one.claim) <= 140
    assert len(one.doc.splitlines()) >= 8, "a page says what is measured, why it hurts, what to try"
    assert re.search(r"harmless", one.doc, re.IGNORECASE)


def test_the_fix_is_one_line_that_tells_what_to_do(one: Check) -> None:
    assert one.fix
    assert "\n" not in one.fix
    assert one.fix[0].isupper()
    assert one.fix.endswith(".")
    assert len(one.fix) <= 200


def test_what_explains_it_exists_and_comes_in_its_own_family(one: Check) -> None:
    names = {c.name for c in checks_of(one.family)}
    assert set(one.explained_by) <= names - {one.name}


def test_no_check_is_explained_by_its_own_consequence() -> None:
    by_name = {c.name: c for c in CHECKS}
    for start in CHECKS:
        seen, edge = set[str](), list(start.explained_by)
        while edge:
            name = edge.pop()
            assert name != start.name, f"{start.name} explains itself"
            if name not in seen:
                seen.add(name)
                edge += by_name[name].explained_by


def test_checks_are_found_by_name_and_code_and_the_nearest_is_offered() -> None:
    assert find_check(CHECKS[0].name.upper()) is CHECKS[0]
    assert find_check(CHECKS[0].code.lower()) is CHECKS[0]
    with pytest.raises(UnknownNameError, match=CHECKS[0].name):
        find_check(CHECKS[0].name + "s")


def test_listing_checks_loads_no_heavy_package() -> None:
    heavy = ("torch", "gymnasium", "torchrl", "stable_baselines3", "scipy", "pettingzoo")
    code = "import sys\nfrom firstbreak.check import all_checks\nall_checks()\n"
    code += f"print(*[n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_module_of_a_family_says_what_it_is(family: str) -> None:
    assert importlib.import_module(FAMILIES[family]).__doc__
    for check in checks_of(family):
        assert sys.modules[check.module].__doc__
