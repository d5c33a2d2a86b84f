"""Published variants of the trainers that no invariant may blame; each is looked at through its own methods."""

from __future__ import annotations

import pytest

from firstbreak.preflight.invariants.api import inspect_trainer
from tests.probes import odd_harmless

KINDS = ("ppo_", "dqn_", "sac_", "mmrkhs_", "sb3_")
VARIANTS = sorted(
    name for name, value in vars(odd_harmless).items() if name.startswith(KINDS) and isinstance(value, type)
)


def test_the_list_is_whole() -> None:
    assert len(VARIANTS) >= 40


@pytest.mark.parametrize("name", VARIANTS)
def test_a_published_variant_is_left_alone(name: str) -> None:
    seen = inspect_trainer(getattr(odd_harmless, name))
    assert [f.name for f in seen.findings if f.severity.rank] == []
    assert seen.errors == ()
