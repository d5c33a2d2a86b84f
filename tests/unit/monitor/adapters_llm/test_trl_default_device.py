"""What the adapter of TRL makes for itself does not land on the default device.

Here that is "meta", whose tensors hold no values, so that one that landed there would raise when read.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from firstbreak.monitor.adapters.parts.trl.expected import expected, own_mask
from firstbreak.monitor.adapters.parts.trl.own_scores import GROUPS, OwnScores
from firstbreak.monitor.adapters.parts.trl.scores import weighted, weighted_rewards
from firstbreak.monitor.core import Monitor
from tests.unit.monitor.adapters_llm.test_trl_expected import IDS, MASK, PAD, A, trainer
from tests.unit.monitor.adapters_llm.test_trl_references import exact, look, references

torch.set_num_threads(1)
NAMES = ["one", "two"]


@pytest.mark.parametrize("kind", ["grpo", "bnpo", "dr_grpo", "dapo"])
@pytest.mark.parametrize("whole", [22, torch.tensor(22.0)])
def test_the_expected_gradient(kind: str, whole: Any) -> None:
    old = -torch.rand(IDS.shape, generator=torch.Generator().manual_seed(0))
    inputs = {
        "completion_ids": IDS, "completion_mask": MASK, "advantages": A, "old_per_token_logps": old,
        "ref_per_token_logps": old - 0.1, "num_items_in_batch": whole,
    }  # fmt: skip

    def found() -> Tensor:
        gradient = expected(old + 0.1, inputs, trainer(kind, beta=0.04), own_mask(inputs, PAD, False))
        assert gradient is not None
        return gradient

    here = found()
    with torch.device("meta"):
        there = found()
    assert there.device.type == "cpu"
    torch.testing.assert_close(there, here)


def test_rewards_of_a_batch() -> None:
    given: Any = SimpleNamespace(
        _logs={"rewards": {"one": [1.0, None, 0.5], "two": [0.0, None, 1.0]}},
        reward_func_names=NAMES,
        reward_weights=torch.tensor([1.0, 2.0]),
    )
    with torch.device("meta"):
        found = weighted_rewards(given)
        assert found is not None
        assert [float(found[place]) for place in (0, 2)] == [1.0, 2.5]
        assert weighted(torch.tensor([[1.0, 3.0]], device="cpu"), given).tolist() == [7.0]


def test_scores_of_references() -> None:
    here = look(references(exact))
    there = references(exact)
    with torch.device("meta"):
        assert look(there) == here
    assert here


def test_pairs_that_are_alike() -> None:
    own = OwnScores(SimpleNamespace(num_generations=4), Monitor())
    own._repeats.extend([(0.5, 0.25)] * GROUPS)
    here = own._alike()
    with torch.device("meta"):
        assert own._alike() == here
    assert here
