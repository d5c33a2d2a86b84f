"""Do answers belong to their prompts? The overlap of words in place, against the same answers shifted by some rows.

For one block of rows, `overlap[i, j]` is what prompt i and answer j share. Under the hypothesis that answers belong to
no prompt in particular every order of the answers is as likely as any other, and the sum along a (wrapped) diagonal
has an exact mean and variance over all orders (Hoeffding 1951), so that no order need be drawn.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
SHIFTS = (1, -1, 2, -2, 3, -3)
"""Rows by which answers are tried; a lost or doubled line shifts by one, a lost record of several by a few."""
FEWEST_ROWS = 24
"""A block of fewer rows says too little: its wrapped ends weigh too much."""
_WORDS = re.compile(r"[^\W\d_]{4,}|\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Alignment:
    """How much better than chance answers fit: in place, and shifted by the rows that fit best.

    `in_place` and `shifted` are deviations from chance in standard errors; `gain` is how sure it is that the shift
    fits better than the place, likewise.
    """

    first_row: int
    last_row: int
    rows: int
    in_place: float
    shift: int
    shifted: float
    gain: float


def words(text: str) -> frozenset[str]:
    """Return the words of four letters or more and the numbers of `text`."""
    return frozenset(_WORDS.findall(text.casefold()))


def overlap(prompts: Sequence[frozenset[str]], answers: Sequence[frozenset[str]]) -> Matrix:
    """Return what prompt i and answer j share [n, n]: rare words count more, long answers not.

    A word weighs log(n / prompts that hold it) (inverse document frequency, Sparck Jones 1972).
    """
    n = len(prompts)
    held = Counter(word for one in prompts for word in one)
    index = {word: i for i, word in enumerate(held)}
    weight = np.array([math.sqrt(math.log(n / held[word])) for word in index])
    left, right = np.zeros((n, len(index))), np.zeros((n, len(index)))
    for i in range(n):
        left[i, [index[w] for w in prompts[i]]] = 1.0
        right[i, [index[w] for w in answers[i] if w in index]] = 1.0 / math.sqrt(max(1, len(answers[i])))
    return (left * weight) @ (right * weight).T


def diagonal(matrix: Matrix, shift: int) -> NDArray[np.float64]:
    """Return the overlap of prompt i with answer i + shift [n], wrapped around the end of the block."""
    rows = np.arange(len(matrix))
    return matrix[rows, (rows + shift) % len(matrix)]


def chance(matrix: Matrix) -> tuple[float, float]:
    """Return mean and variance of the sum along one permutation of `matrix` [n, n], over all permutations."""
    n = len(matrix)
    centred = matrix - matrix.mean(0) - matrix.mean(1)[:, None] + matrix.mean()
    return float(matrix.sum() / n), float((centred**2).sum() / (n - 1))


def align(first_row: int, last_row: int, matrices: Sequence[Matrix]) -> Alignment | None:
    """Judge some blocks together; None when no order of the answers differs from another (nothing is shared)."""
    moments = [chance(m) for m in matrices]
    mean, deviation = sum(m for m, _ in moments), math.sqrt(sum(v for _, v in moments))
    if deviation <= 1e-9 * max(1.0, abs(mean)):
        return None
    along = {d: np.concatenate([diagonal(m, d) for m in matrices]) for d in (0, *SHIFTS)}
    z = {d: (float(values.sum()) - mean) / deviation for d, values in along.items()}
    best = max(SHIFTS, key=lambda d: z[d])
    difference = along[best] - along[0]
    error = float(difference.std(ddof=1)) / math.sqrt(difference.size)
    gain = float(difference.mean()) / error if error > 0 else 0.0
    return Alignment(first_row, last_row, int(difference.size), z[0], best, z[best], gain)


def segments(blocks: Sequence[tuple[int, int, Matrix]], most: int = 8) -> list[Alignment]:
    """Judge up to `most` stretches of the file one by one, as a shift may begin in its middle."""
    size = max(1, math.ceil(len(blocks) / most))
    found: list[Alignment] = []
    for start in range(0, len(blocks), size):
        part = blocks[start : start + size]
        one = align(part[0][0], part[-1][1], [m for _, _, m in part])
        if one is not None:
            found.append(one)
    return found
