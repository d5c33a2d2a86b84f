"""Errors say what, why and what to do; they pickle and derive from the built-in type they replace."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

import firstbreak
from firstbreak import errors
from firstbreak.evaluation.contamination.api import WorkerError
from firstbreak.evaluation.ledger.store import TamperedError

KINDS = [
    (errors.InputError, ValueError, "bad_input"),
    (errors.UnreadableError, OSError, "unreadable"),
    (errors.ConfigError, ValueError, "bad_config"),
    (errors.UnknownNameError, KeyError, "unknown_name"),
    (errors.MissingExtraError, ImportError, "missing_extra"),
]


@pytest.mark.parametrize(("cls", "builtin", "kind"), KINDS)
def test_an_error_replaces_its_builtin_and_survives_pickling(
    cls: type[errors.FirstbreakError], builtin: type[Exception], kind: str
) -> None:
    error = cls("The file is empty.", "Give another.")
    assert isinstance(error, builtin)
    assert error.kind == kind
    assert str(error) == "The file is empty.\nGive another."
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is cls
    assert (copy.message, copy.hint, str(copy)) == (error.message, error.hint, str(error))


def test_every_error_has_its_own_kind() -> None:
    classes = errors.FirstbreakError.__subclasses__()
    assert {cls for cls, _, _ in KINDS} == {cls for cls in classes if cls.__module__ == errors.__name__}
    assert len({cls.kind for cls in classes}) == len(classes)


def test_the_page_on_json_names_the_kinds_that_there_are() -> None:
    page = (Path(firstbreak.__file__).parent / "skills/firstbreak/references/json.md").read_text("utf-8")
    named = re.search(r"`kind` is one of ([a-z_,\s]+);.* also ([a-z_, ]+)\.", page)
    assert named is not None
    kinds = [cls.kind for cls, _, _ in KINDS] + [WorkerError.kind, TamperedError.kind]
    assert re.findall(r"[a-z_]+", f"{named[1]} {named[2]}") == kinds


def test_a_near_name_is_offered() -> None:
    error = errors.unknown_name("rule", "kl-overshot", ["kl-overshoot", "reward-flat"])
    assert error.message == "No rule named 'kl-overshot'."
    assert error.hint == "Did you mean 'kl-overshoot'?"


def test_where_no_name_is_near_a_short_list_is_given_and_a_long_one_is_not() -> None:
    assert errors.unknown_name("rule", "zzz", ["reward-flat", "kl-overshoot"]).hint == (
        "There are: kl-overshoot, reward-flat."
    )
    assert errors.unknown_name("rule", "zzz", [f"rule-{i:03}" for i in range(100)]).hint == ""
    assert errors.unknown_name("rule", "zzz", []).hint == ""
    assert errors.unknown_name("rule", "KL", ["entropy-collapse", "policy/kl_old", "klein"]).hint == (
        "Did you mean 'policy/kl_old'?"
    )


def test_a_missing_extra_names_the_install_line() -> None:
    error = errors.missing_extra("pyarrow", "parquet", "Reading a parquet table")
    assert "pip install 'firstbreak[parquet]'" in error.hint
    assert "pyarrow" in str(error)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_libraries_refuse_is_no_fault_of_the_trainer_or_the_environment(seed: int) -> None:
    from firstbreak.preflight.environment.api import inspect_environment
    from firstbreak.preflight.invariants.api import inspect_trainer
    from firstbreak.probes.api import probe

    for call in (inspect_environment, inspect_trainer, probe):
        with pytest.raises(errors.InputError, match="seed"):
            call("sb3:PPO", seed=seed)
