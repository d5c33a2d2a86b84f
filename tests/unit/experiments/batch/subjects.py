"""Things to experiment on: scorers, a small language model that writes, models with a loss, updates that fail."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from firstbreak.trainers.language.model import TinyLM
from firstbreak.trainers.language.sampling import Sampling, write_all
from firstbreak.trainers.language.symbols import EOS
from firstbreak.trainers.language.warm_start import prompt_rows

# ---- scorers ----------------------------------------------------------------------------------------------------


def strict(prompt: str, response: str, answer: str) -> float:
    """Pays for the exact answer."""
    del prompt
    return float(response.strip() == answer)


def lenient(prompt: str, response: str, answer: str) -> float:
    """Pays for the answer anywhere: what a strict scorer may have become."""
    del prompt
    return float(answer in response)


def noisy(prompt: str, response: str, answer: str) -> float:
    """A judge that throws dice: the strict score, with a spread of one half."""
    return strict(prompt, response, answer) + random.gauss(0, 0.5)


def failing(prompt: str, response: str, answer: str) -> float:
    """A judge that is overloaded for one response in five."""
    if int(hashlib.sha256(response.encode()).hexdigest(), 16) % 5 == 0:
        raise TimeoutError("no answer in 10 s")
    return strict(prompt, response, answer)


def begins_with_a(prompt: str, response: str) -> float:
    """Pays for one first letter out of the thirty-two symbols."""
    del prompt
    return float(response[:1] == "a")


def impossible(prompt: str, response: str) -> float:
    """Pays for nothing."""
    del prompt, response
    return 0.0


def four_letters(prompt: str, response: str) -> float:
    """Pays for a second letter out of four."""
    del prompt
    return float(response[1:2] in tuple("abcd"))


# ---- a language model that writes -------------------------------------------------------------------------------


def writer(stop: float) -> TinyLM:
    """A language model with random weights that stops at each token with about this probability."""
    torch.manual_seed(0)
    model = TinyLM(width=16, layers=1, heads=2)
    with torch.no_grad():
        model.norm.bias.fill_(1.0)
        model.logits_head.weight.zero_()
        # 29 other symbols can be written, each with logit 0: e^x / (e^x + 29) = stop
        model.logits_head.weight[EOS] = math.log(29 * stop / (1 - stop)) / 16 if stop else -10.0
    return model


def _written(model: TinyLM, prompts: Sequence[str], n: int, max_tokens: int, seed: int) -> list[list[Any]]:
    rows = prompt_rows(list(prompts), n)
    draws = torch.Generator().manual_seed(seed)
    write_all(model, rows, Sampling(max_new_tokens=max_tokens), draws)
    texts = [(row.text, row.ended) for row in rows]
    return [texts[i * n : (i + 1) * n] for i in range(len(prompts))]


def needs_room(prompts: list[str], *, n: int, max_tokens: int, seed: int) -> list[list[Any]]:
    """Stops at one token in twelve."""
    return _written(writer(1 / 12), prompts, n, max_tokens, seed)


def never_stops(prompts: list[str], *, n: int, max_tokens: int, seed: int) -> list[list[Any]]:
    """Has never learnt to stop."""
    return _written(writer(0.0), prompts, n, max_tokens, seed)


def hardly_stops(prompts: list[str], *, n: int, max_tokens: int, seed: int) -> list[list[Any]]:
    """A quarter of what is cut at 10 stops before 40."""
    return _written(writer(1 - 0.75 ** (1 / 30)), prompts, n, max_tokens, seed)


def stops_at_once(prompts: list[str], *, n: int, max_tokens: int, seed: int) -> list[list[Any]]:
    """Nothing is ever cut."""
    return _written(writer(0.9), prompts, n, max_tokens, seed)


def too_few(prompts: list[str], *, n: int, max_tokens: int, seed: int) -> list[list[Any]]:
    """Returns one response less than asked for."""
    return [g[:-1] for g in needs_room(prompts, n=n, max_tokens=max_tokens, seed=seed)]


# ---- models with a loss -----------------------------------------------------------------------------------------


def language_model() -> TinyLM:
    """A small transformer."""
    torch.manual_seed(1)
    return TinyLM(width=16, layers=2, heads=2)


def token_loss(model: Any, batch: Any) -> Any:
    """Mean negative log-probability, and the log-probs."""
    ids = batch["ids"]
    log_probs = model(ids, torch.ones_like(ids, dtype=torch.bool)).log_softmax(-1)
    chosen = log_probs[:, :-1].gather(-1, ids[:, 1:, None]).squeeze(-1)
    return -chosen.mean(), chosen


def unscaled_loss(model: Any, batch: Any) -> Any:
    """The same as small as a reward of 1e-8 makes it: its gradients lie below the range of half precision."""
    loss, log_probs = token_loss(model, batch)
    return 1e-8 * loss, log_probs


class Tower(nn.Module):
    """Layers that grow what they are given past 65,504."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 1)
        nn.init.constant_(self.first.weight, 50.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


def tower() -> Tower:
    """A network whose activations overflow half precision."""
    torch.manual_seed(2)
    return Tower()


def regression(model: Any, batch: Any) -> Any:
    """Mean square error, without log-probs."""
    return (model(batch["x"]) - batch["y"]).square().mean()


# ---- an update that fails ---------------------------------------------------------------------------------------


def update(state: Any, batch: Any) -> Any:
    """One step of a small critic on normalised returns, as a trainer would make it."""
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    net.load_state_dict(state["critic"])
    target = batch["returns"]
    yield "returns", target
    target = (target - target.mean()) / target.std()
    loss = (net(batch["obs"]).squeeze(-1) - target).square().mean()
    yield "loss", loss
    loss.backward()


def refusing_update(state: Any, batch: Any) -> None:
    """A distribution that checks its parameters, as torch's do."""
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    net.load_state_dict(state["critic"])
    torch.distributions.Normal(net(batch["obs"]), 1.0)


def silent_update(state: Any, batch: Any) -> None:
    """Does nothing that could be seen."""
    del state, batch
