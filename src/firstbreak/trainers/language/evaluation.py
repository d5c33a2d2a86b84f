"""Evaluation on held-out problems, always drawn the same way, so that two evaluations can be compared."""

from __future__ import annotations

import torch

from .measures import pass_at_k
from .model import TinyLM
from .sampling import Sampling, write_all
from .tasks import Puzzles, correct_reward, dice
from .warm_start import prompt_rows

PROBLEMS, TRIES, K = 24, 8, 4
"""Held-out problems, tries at each, and the k of pass@k. Engineering default."""


def evaluate(model: TinyLM, puzzles: Puzzles, max_new_tokens: int) -> dict[str, float]:
    """Return pass@1 and pass@4 on the same held-out problems, at temperature 1 with the same random numbers."""
    problems = puzzles.draw(PROBLEMS, dice(0), held_out=True)
    rows = prompt_rows([problem.prompt for problem in problems], TRIES)
    write_all(model, rows, Sampling(max_new_tokens=max_new_tokens), torch.Generator().manual_seed(0))
    right = [0] * PROBLEMS
    for i, row in enumerate(rows):
        right[i // TRIES] += int(correct_reward(problems[i // TRIES], row.text, row.ended))
    return {
        "reward/eval_mean": sum(right) / len(rows),
        "reward/eval_pass_at_k": sum(pass_at_k(count, TRIES, K) for count in right) / PROBLEMS,
    }
