"""Packages, hardware and the environment variables that are written down."""

from __future__ import annotations

import sys
from importlib import metadata

from firstbreak.context.machine import ALLOWED, environment, hardware, packages, packages_of


def test_only_listed_variables_are_written_down() -> None:
    variables = {"CUDA_VISIBLE_DEVICES": "0", "HOME": "/home/me", "WANDB_API_KEY": "abc", "PYTHONHASHSEED": "1"}
    assert environment(variables) == {"CUDA_VISIBLE_DEVICES": "0", "PYTHONHASHSEED": "1"}


def test_a_key_inside_an_allowed_variable_is_removed() -> None:
    assert "hunter2x" not in environment({"PYTHONPATH": "/a:password='hunter2x'"})["PYTHONPATH"]


def test_no_listed_variable_is_a_secret() -> None:
    assert not [name for name in ALLOWED if any(word in name for word in ("KEY", "SECRET", "PASSW", "CREDENTIAL"))]


def test_packages_are_those_of_the_interpreter() -> None:
    found = packages()
    assert found["numpy"] == metadata.version("numpy")
    assert packages_of(sys.executable) == packages_of("") == found
    assert packages_of("/no/such/python") == {}


def test_the_machine_is_described_without_its_name() -> None:
    import platform

    found = hardware()
    assert found["python"] == platform.python_version()
    assert found["memory_bytes"] > 0
    assert platform.node() not in [str(value) for value in found.values()]
