"""Numbers come out of whatever is logged, and off an accelerator in one transfer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.monitor import rows
from firstbreak.monitor.rows import on_accelerator, read_row


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Take every tensor for one on an accelerator; each way to bring a value over is noted."""
    found: list[str] = []
    for name in ("item", "tolist", "cpu", "__float__", "numpy"):
        real = getattr(torch.Tensor, name)

        def noted(self: Any, *args: Any, name: str = name, real: Any = real) -> Any:
            found.append(name)
            return real(self, *args)

        monkeypatch.setattr(torch.Tensor, name, noted)
    monkeypatch.setattr(rows, "on_accelerator", lambda value: isinstance(value, torch.Tensor) and value.numel() == 1)
    return found


def test_thirty_tensors_are_one_transfer_and_arrive_in_their_places(reads: list[str]) -> None:
    row: dict[str, Any] = {f"m/{i}": torch.tensor(i / 7, requires_grad=i % 2 == 0) for i in range(30)}
    row |= {"host": 0.5, "whole": torch.tensor(3), "yes": torch.tensor([True]), "many": torch.zeros(2), "nan": math.nan}
    keys, values, left = read_row(row)
    assert reads == ["tolist"]
    assert left == ["many"]
    read = dict(zip(keys, values, strict=True))
    assert [read[f"m/{i}"] for i in range(30)] == [float(np.float32(i / 7)) for i in range(30)]
    assert (read["host"], read["whole"], read["yes"]) == (0.5, 3.0, 1.0)
    assert math.isnan(read["nan"])


def test_what_is_on_the_processor_or_holds_no_value_is_not_on_an_accelerator() -> None:
    for value in (torch.tensor(1.0), torch.empty((), device="meta"), np.float32(1), "text", object()):
        assert not on_accelerator(value)
    assert read_row({"a": torch.empty((), device="meta"), "b": 1.0}) == (("b",), [1.0], ["a"])
