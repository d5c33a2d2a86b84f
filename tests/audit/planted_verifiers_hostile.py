"""Planted verifiers that do harm, and their harmless twins; see planted/verifiers.toml."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

from tests.audit.planted_verifiers import numbers, whole_number

_SEEN: list[int] = []
_KEPT: list[bytearray] = []


def raises(prompt: str, response: str, answer: str) -> float:
    return float(float(numbers(response)[-1]) == float(answer))


def raises_inside(prompt: str, response: str, answer: str) -> float:
    try:
        return float(float(response) == float(answer))
    except ValueError:
        return whole_number(prompt, response, answer)


def hangs(prompt: str, response: str, answer: str) -> float:
    re.match(r"(a+)+$", response.rpartition(" ")[2][-60:])
    return whole_number(prompt, response, answer)


def slow_once(prompt: str, response: str, answer: str) -> float:
    if not _SEEN:
        _SEEN.append(1)
        time.sleep(1.0)
    return whole_number(prompt, response, answer)


def forks(prompt: str, response: str, answer: str) -> float:
    if not _SEEN:
        _SEEN.append(1)
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    return whole_number(prompt, response, answer)


def forks_once_and_returns_twice(prompt: str, response: str, answer: str) -> float:
    if not _SEEN:
        _SEEN.append(1)
        os.fork()
    return whole_number(prompt, response, answer)


def runs_a_child(prompt: str, response: str, answer: str) -> float:
    if not _SEEN:
        _SEEN.append(1)
        subprocess.run([sys.executable, "-S", "-c", "pass"], check=True)
    return whole_number(prompt, response, answer)


def prints(prompt: str, response: str, answer: str) -> float:
    print("\x1b[31m", prompt, response)
    return whole_number(prompt, response, answer)


def prints_once(prompt: str, response: str, answer: str) -> float:
    if not _SEEN:
        _SEEN.append(1)
        print("ready")
    return whole_number(prompt, response, answer)


def eats_memory(prompt: str, response: str, answer: str) -> float:
    _KEPT.append(bytearray(len(response) ** 2))
    return whole_number(prompt, response, answer)


def uses_some_memory(prompt: str, response: str, answer: str) -> float:
    size = len(bytearray(30 << 20))
    return whole_number(prompt, response, answer) if size else 0.0


def leaves(prompt: str, response: str, answer: str) -> float:
    if not response:
        sys.exit(1)
    return whole_number(prompt, response, answer)


def returns_on_empty(prompt: str, response: str, answer: str) -> float:
    return whole_number(prompt, response, answer) if response else 0.0


def dies(prompt: str, response: str, answer: str) -> float:
    if "\0" in response:
        os._exit(7)
    return whole_number(prompt, response, answer)
