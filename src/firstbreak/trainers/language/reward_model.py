"""A reward model learned from preferences (Bradley and Terry 1952; Ouyang et al. 2022, arXiv 2203.02155, section 3.5).

Preferences come from the policy itself: of two responses to one prompt, the right one is chosen. What the model gives
is a proxy, and can be over-optimised like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid
from torch.optim import Adam

from .model import TinyLM
from .sampling import Row, Sampling, collate, write_all
from .symbols import EOS, encode
from .tasks import FORM, Problem, Puzzles, correct_reward, dice, right_response
from .warm_start import FILLERS, prompt_rows

Pair = tuple[Row, Row]
"""Chosen, rejected."""


class RewardModel(nn.Module):
    """The policy's network with a head for one number, read at the last token."""

    def __init__(self, policy: TinyLM) -> None:
        super().__init__()
        self.net = deepcopy(policy)
        self.net.head = nn.Linear(self.net.norm.normalized_shape[0], 1)
        nn.init.zeros_(self.net.head.weight)
        self.shift: Tensor
        self.scale: Tensor
        self.register_buffer("shift", torch.zeros(()))
        self.register_buffer("scale", torch.ones(()))

    def forward(self, rows: Sequence[Row]) -> Tensor:
        """Scores [B]. Rows are padded on the left, so that the last place is the last token of each."""
        batch = collate(rows)
        raw = self.net.head_values(batch["ids"], batch["attention"])[:, -1]
        return (raw - self.shift) / self.scale

    @torch.no_grad()
    def standardise(self, rows: Sequence[Row]) -> None:
        """Make the scores of these rows have mean 0 and spread 1 (Huang et al. 2024, arXiv 2403.17031)."""
        scores = self(rows)
        self.shift, self.scale = self.shift + self.scale * scores.mean(), self.scale * scores.std()


def preference_loss(chosen: Tensor, rejected: Tensor) -> Tensor:
    """Negative log-likelihood of preferences by their scores [B]: -log sigmoid(chosen - rejected)."""
    return -logsigmoid(chosen - rejected).mean()


def preferences(
    policy: TinyLM, puzzles: Puzzles, sampling: Sampling, *, count: int, seed: int, held_out: bool = False
) -> list[Pair]:
    """Return `count` pairs: responses of the policy that are wrong, each with one that is right.

    The right one is the policy's too where it has one, else it is written as the policy would have to. A response
    without the form of an answer loses to any other.
    """
    draws, chance = torch.Generator().manual_seed(seed), dice(seed)
    pairs: list[Pair] = []
    while len(pairs) < count:
        problems = puzzles.draw(64, chance, held_out=held_out)
        rows = prompt_rows([problem.prompt for problem in problems], 4)
        write_all(policy, rows, sampling, draws)
        for i, problem in enumerate(problems):
            tries = rows[4 * i : 4 * i + 4]
            right = [row for row in tries if correct_reward(problem, row.text, row.ended)]
            wrong = [row for row in tries if not correct_reward(problem, row.text, row.ended)]
            chosen = right[0] if right else written(problem, chance.randrange(FILLERS + 1))
            pairs += [(chosen, row) for row in wrong[:1]]
            # Among wrong ones, an answer beats what is none.
            pairs += [(a, b) for a in wrong for b in wrong if _answers(a) and not _answers(b)][:1]
    return pairs[:count]


def written(problem: Problem, fillers: int) -> Row:
    """A right response as a row."""
    row = prompt_rows([problem.prompt])[0]
    row.append([*encode(right_response(problem, fillers)), EOS], own=True, log_prob=0.0, version=0)
    row.ended = True
    return row


def _answers(row: Row) -> bool:
    return row.ended and FORM.fullmatch(row.text) is not None


def train_reward_model(
    policy: TinyLM, puzzles: Puzzles, sampling: Sampling, *, seed: int = 0, pairs: int = 2048, epochs: int = 6
) -> RewardModel:
    """Return a reward model of the puzzles, started from the policy's weights and standardised on its responses."""
    model = RewardModel(policy)
    data = preferences(policy, puzzles, sampling, count=pairs, seed=seed)
    optimiser: Any = Adam(model.parameters(), lr=1e-3)
    chance = dice(seed)
    for _ in range(epochs):
        chance.shuffle(data)
        for start in range(0, len(data), 64):
            part = data[start : start + 64]
            scores = model([pair[0] for pair in part] + [pair[1] for pair in part])
            loss = preference_loss(scores[: len(part)], scores[len(part) :])
            optimiser.zero_grad()
            cast(Any, loss).backward()
            optimiser.step()
    draws = torch.Generator().manual_seed(seed)
    rows = prompt_rows([problem.prompt for problem in puzzles.draw(256, chance)])
    write_all(policy, rows, sampling, draws)
    model.standardise(rows)
    return model.requires_grad_(False)


@torch.no_grad()
def pairwise_accuracy(model: RewardModel, pairs: Sequence[Pair]) -> float:
    """Share of the pairs whose chosen response scores higher."""
    chosen, rejected = (model([pair[side] for pair in pairs]) for side in (0, 1))
    return float((chosen > rejected).float().mean())
