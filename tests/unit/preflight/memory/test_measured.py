"""The ledger against bytes of real small models: the numbers that the benchmark prints, with their bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from benchmarks.preflight.memory_ledger import cases, compare, measure, peak_bytes
from firstbreak.preflight.memory.ledger import ERROR_FRAC
from firstbreak.preflight.memory.plan import Plan


def smaller(plan: Plan) -> Plan:
    """Return the plan with a quarter of the tokens and of the words."""
    actor = plan.models[0]
    shape = replace(actor.architecture, vocab=actor.architecture.vocab // 4, layers=2)
    return replace(plan, models=(replace(actor, architecture=shape),), micro_batch=1)


CASES = {name: smaller(plan) for name, plan in cases("cpu").items()}


@pytest.mark.parametrize("name", CASES)
def test_the_ledger_is_as_near_as_it_says(name: str) -> None:
    torch.set_num_threads(1)
    off = compare(CASES[name], measure(CASES[name]))
    assert (off.weights, off.gradients, off.optimiser) == (0.0, 0.0, 0.0)
    if off.saved is not None:
        # On a CPU dropout keeps a 4-byte mask where a GPU keeps one byte: that case alone is further off.
        assert abs(off.saved) <= (0.2 if "dropout" in name else 0.04)
    assert abs(off.peak) <= ERROR_FRAC["activations"]


def test_the_peak_counts_what_is_held_at_a_time() -> None:
    torch.set_num_threads(1)

    def one_after_the_other() -> None:
        for _ in range(3):
            torch.zeros(250_000)

    def together() -> None:
        held = [torch.zeros(250_000) for _ in range(3)]
        del held

    assert peak_bytes(one_after_the_other, "cpu") == pytest.approx(1_000_000, rel=0.01)
    assert peak_bytes(together, "cpu") == pytest.approx(3_000_000, rel=0.01)
