"""Checksums of event files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.readers import crc32c as crc


def by_bits(data: bytes) -> int:
    """CRC-32C one bit at a time, as its definition says."""
    total = 0xFFFFFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = (total >> 1) ^ (0x82F63B78 if total & 1 else 0)
    return total ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (b"", 0),
    ],
)
def test_published_values(data: bytes, expected: int) -> None:
    assert crc.crc32c(data) == expected


@settings(deadline=None, max_examples=30)
@given(st.binary(max_size=3000))
def test_any_length_agrees_with_the_definition(data: bytes) -> None:
    assert crc.crc32c(data) == by_bits(data)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 90), st.integers(1, 20), st.randoms(use_true_random=False))
def test_rows_agree_with_single_sums(length: int, count: int, random) -> None:
    rows = np.frombuffer(random.randbytes(length * count), dtype=np.uint8).reshape(count, length)
    padded = np.concatenate([rows, np.full((count, 3), 7, dtype=np.uint8)], axis=1)
    assert crc.masked_rows(padded, length).tolist() == [crc.mask(crc.crc32c(row.tobytes())) for row in rows]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20))
def test_lengths_agree_with_single_sums(lengths: list[int]) -> None:
    found = crc.masked_lengths(np.array(lengths, dtype=np.uint64)).tolist()
    assert found == [crc.masked_length(length) for length in lengths]
    assert found == [crc.mask(by_bits(length.to_bytes(8, "little"))) for length in lengths]
