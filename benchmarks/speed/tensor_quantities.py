"""Tensor quantities beside a CleanRL-style PPO update: what an update costs with them and without, in one run.

python benchmarks/speed/tensor_quantities.py [--updates 60]

The update is CleanRL's (64x64 tanh, 4 epochs of 4 minibatches, Adam, clipped norm, one thread). The PPO set is taken
once an update: gradient norms before the last clipping, all else at the end: values and advantages on all rows; ratios,
KL, clipping and entropy on the last minibatch, from tensors that its loss has computed anyway; the change of the
weights; dormant units and the rank of the features, which change slowly, every 16th update. Updates with and without
alternate, so that a drift of the machine hits both; each starts from the same weights. Both the processor's time and
the wall's are shown: on a shared machine only the first is steady. The share spent inside the quantities is taken in
the same updates. What CleanRL's loop counts as an update begins with a rollout, and `monitor_log.py` measures by that;
here the share is told of the optimisation alone, the stricter measure, and of both together (CartPole, four
environments, as many steps as there are rows).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from firstbreak.monitor.tensors import (
    Activations,
    Quantities,
    WeightChange,
    advantages,
    categorical_entropy,
    dormant_units,
    feature_rank,
    follow,
    gae_residual,
    gradient_norms,
    importance_ratios,
    value_fit,
)

EPOCHS, MINIBATCHES, CLIP, ENVS = 4, 4, 0.2, 4
INSIDE_EVERY = 16


def network(outputs: int, gain: float, width: int = 64) -> nn.Sequential:
    net = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, outputs))
    for layer, size in zip(net[::2], (2**0.5, 2**0.5, gain), strict=True):
        nn.init.orthogonal_(layer.weight, size)
        nn.init.zeros_(layer.bias)
    return net


class Watch:
    """The PPO set of quantities as a loop would take it."""

    def __init__(self, actor: nn.Module, critic: nn.Module) -> None:
        self.quantities = Quantities()
        self.networks = {"actor": list(actor.parameters()), "critic": list(critic.parameters())}
        self.weights, self.activations = WeightChange(self.networks), Activations(actor)
        self.kept: tuple[Tensor, ...] = ()
        self.updates, self.spent = 0, 0.0

    @property
    def looks_inside(self) -> bool:
        """Whether this update's activations are looked at."""
        return self.updates % INSIDE_EVERY == 0

    def last_minibatch(self, *kept: Tensor) -> None:
        """Before its gradients are clipped; what else is measured of it waits, as calls side by side cost less."""
        self.quantities.add(gradient_norms(self.networks))
        self.kept = kept

    def end(self, data: dict[str, Tensor]) -> dict[str, float]:
        self.quantities.add(value_fit(data["values"], data["returns"]))
        self.quantities.add(advantages(data["advantages"]))
        self.quantities.add(residual(data))
        new, old, signs, logits = self.kept
        self.quantities.add(importance_ratios(new, old, clip_range=CLIP, advantages=signs))
        self.quantities.add(follow(signs, old, new))
        self.quantities.add(categorical_entropy(logits))
        self.quantities.add(self.weights.measure())
        if self.looks_inside:
            self.quantities.add(dormant_units(self.activations.outputs))
            self.quantities.add(feature_rank(list(self.activations.outputs.values())[-1]))
        self.updates += 1
        return self.quantities.numbers()


def residual(data: dict[str, Tensor]) -> dict[str, Tensor]:
    """What is missing of the advantages of four environments, whose rows lie side by side."""
    raw, reward, value = (data[name].view(-1, ENVS) for name in ("advantages", "rewards", "values"))
    follows = data["follows"].view(-1, ENVS)[1:]
    return gae_residual(raw, reward, value, follows, discount=0.99, decay=0.95)


class PPO:
    """One update of CleanRL's ppo.py on a stored batch; `watch` is what is measured."""

    def __init__(self, rows: int, width: int = 64) -> None:
        torch.manual_seed(0)
        self.rows, self.actor, self.critic = rows, network(2, 0.01, width), network(1, 1.0, width)
        parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.parameters, self.optimiser = parameters, torch.optim.Adam(parameters, lr=2.5e-4, eps=1e-5)
        self.start = [p.detach().clone() for p in parameters]
        obs = torch.randn(rows, 4)
        with torch.no_grad():
            policy, values = Categorical(logits=self.actor(obs)), self.critic(obs).squeeze(-1)
            actions = policy.sample()
            log_probs = policy.log_prob(actions)
        gains = torch.randn(rows)
        self.data = {"obs": obs, "actions": actions, "log_probs": log_probs, "values": values}
        self.data |= {"advantages": gains, "returns": values + gains}
        self.beside = {"rewards": torch.ones(rows), "follows": torch.ones(rows)}

    def reset(self) -> None:
        with torch.no_grad():
            for p, start in zip(self.parameters, self.start, strict=True):
                p.copy_(start)
        self.optimiser.state.clear()

    def update(self, watch: Watch | None) -> None:
        data, order, size = self.data, np.arange(self.rows), self.rows // MINIBATCHES
        clipped: list[float] = []
        for epoch in range(EPOCHS):
            np.random.shuffle(order)
            for start in range(0, self.rows, size):
                rows = order[start : start + size]
                last = watch if epoch == EPOCHS - 1 and start + size == self.rows else None
                self.minibatch({name: x[rows] for name, x in data.items()}, last, clipped)
        if watch is not None:
            watch.spent += seconds(lambda: watch.end(data | self.beside))[0]

    def minibatch(self, rows: dict[str, Tensor], watch: Watch | None, clipped: list[float]) -> None:
        if watch is None or not watch.looks_inside:
            logits = self.actor(rows["obs"])
        else:
            with watch.activations:
                logits = self.actor(rows["obs"])
        policy, value = Categorical(logits=logits), self.critic(rows["obs"]).view(-1)
        new = policy.log_prob(rows["actions"])
        log_ratio = new - rows["log_probs"]
        ratio = log_ratio.exp()
        with torch.no_grad():  # CleanRL's own measures
            ((ratio - 1) - log_ratio).mean()
            clipped.append(((ratio - 1.0).abs() > CLIP).float().mean().item())
        gains = rows["advantages"]
        gains = (gains - gains.mean()) / (gains.std() + 1e-8)
        policy_loss = torch.max(-gains * ratio, -gains * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)).mean()
        near = rows["values"] + torch.clamp(value - rows["values"], -CLIP, CLIP)
        value_loss = 0.5 * torch.max((value - rows["returns"]) ** 2, (near - rows["returns"]) ** 2).mean()
        loss = policy_loss - 0.01 * policy.entropy().mean() + 0.5 * value_loss
        self.optimiser.zero_grad()
        loss.backward()
        if watch is not None:
            watch.spent += seconds(
                lambda: watch.last_minibatch(new.detach(), rows["log_probs"], gains, logits.detach())
            )[0]
        nn.utils.clip_grad_norm_(self.parameters, 0.5)
        self.optimiser.step()


def rollout_seconds(ppo: PPO, repeats: int = 20) -> float:
    """Processor seconds of the rollout before such an update (median): its steps, actions and values."""
    envs = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * ENVS)
    obs, _ = envs.reset(seed=0)

    def collect() -> None:
        nonlocal obs
        for _ in range(ppo.rows // ENVS):
            with torch.no_grad():
                seen = torch.as_tensor(obs, dtype=torch.float32)
                policy = Categorical(logits=ppo.actor(seen))
                action = policy.sample()
                policy.log_prob(action), policy.entropy(), ppo.critic(seen)  # as CleanRL's agent computes them
            obs, *_ = envs.step(action.numpy())

    taken = statistics.median(seconds(collect)[0] for _ in range(repeats))
    envs.close()
    return taken


def seconds(work: Callable[[], Any]) -> tuple[float, float]:
    """Processor and wall seconds; one thread does all the work."""
    cpu, wall = time.thread_time(), time.perf_counter()
    work()
    return time.thread_time() - cpu, time.perf_counter() - wall


def compare(rows: int, updates: int) -> dict[str, float]:
    """Medians over pairs of updates, without and with, in changing order."""
    ppo = PPO(rows)
    watch = Watch(ppo.actor, ppo.critic)
    plain: list[tuple[float, float]] = []
    watched: list[tuple[float, float]] = []
    for i in range(updates + 5):
        for arm in (False, True) if i % 2 else (True, False):
            ppo.reset()
            taken = seconds(lambda arm=arm: ppo.update(watch if arm else None))
            if i >= 5:
                (watched if arm else plain).append(taken)
    found: dict[str, float] = {"rows": rows}
    each = watch.spent / watch.updates
    whole = statistics.fmean(pair[0] for pair in watched)
    found["cpu_inside_quantities_frac"] = each / whole
    found["cpu_inside_quantities_frac_with_rollout"] = each / (whole + rollout_seconds(ppo))
    for clock, name in enumerate(("cpu", "wall")):
        without, with_ = ([pair[clock] for pair in arm] for arm in (plain, watched))
        base = statistics.median(without)
        extra = statistics.median(b - a for a, b in zip(without, with_, strict=True))
        found[f"{name}_update_ms"] = 1e3 * base
        found[f"{name}_ratio_of_medians"] = statistics.median(with_) / base
        found[f"{name}_ratio_of_fastest"] = min(with_) / min(without)
        found[f"{name}_median_extra_frac"] = extra / base
    return found


def parts(rows: int, repeats: int = 200) -> dict[str, float]:
    """Processor microseconds of each quantity alone, as it is taken in the update (median)."""
    ppo = PPO(rows)
    data, size = ppo.data, rows // MINIBATCHES
    logits, old = ppo.actor(data["obs"][:size]), data["log_probs"][:size]
    (logits.sum() + ppo.critic(data["obs"]).sum()).backward()
    watch = Watch(ppo.actor, ppo.critic)
    with watch.activations:
        ppo.actor(data["obs"][:size])
    seen, few = watch.activations.outputs, data["advantages"][:size]
    new = old + 0.1 * few
    works: dict[str, Callable[[], Any]] = {
        "value_fit": lambda: value_fit(data["values"], data["returns"]),
        "advantages": lambda: advantages(data["advantages"]),
        "gae_residual": lambda: residual(data | ppo.beside),
        "follow": lambda: follow(few, old, new),
        "importance_ratios": lambda: importance_ratios(new, old, clip_range=CLIP, advantages=few),
        "categorical_entropy": lambda: categorical_entropy(logits),
        "gradient_norms": lambda: gradient_norms(watch.networks),
        "WeightChange.measure": watch.weights.measure,
        "dormant_units": lambda: dormant_units(seen),
        "numbers, 40 measures": lambda: collected([few[0]] * 40),
        "feature_rank with its eigenvalues": lambda: ranked(list(seen.values())[-1]),
    }
    return {name: 1e6 * statistics.median(seconds(work)[0] for _ in range(repeats)) for name, work in works.items()}


def collected(values: list[Tensor]) -> dict[str, float]:
    quantities = Quantities()
    quantities.add({str(i): value for i, value in enumerate(values)})
    return quantities.numbers()


def ranked(features: Tensor) -> dict[str, float]:
    quantities = Quantities()
    quantities.add(feature_rank(features))
    return quantities.numbers()


def main() -> None:
    """Compare both sizes, then show where the time goes."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--updates", type=int, default=60)
    chosen = arguments.parse_args()
    torch.set_num_threads(1)
    results = [compare(rows, chosen.updates) for rows in (512, 2048)]
    for found in results:
        alone, both = (100 * found[f"cpu_inside_quantities_frac{rest}"] for rest in ("", "_with_rollout"))
        print(f"{found['rows']:5.0f} rows: {alone:.2f} % of the optimisation, {both:.2f} % with its rollout")
        for clock in ("cpu", "wall"):
            print(
                f"{found['rows']:5.0f} rows, {clock:4s}: update {found[f'{clock}_update_ms']:7.2f} ms, with quantities "
                f"x {found[f'{clock}_ratio_of_medians']:.4f} (fastest x {found[f'{clock}_ratio_of_fastest']:.4f}; "
                f"median extra {100 * found[f'{clock}_median_extra_frac']:.2f} %)"
            )
    for name, taken in parts(2048).items():
        print(f"  {name:34s} {taken:7.1f} us")
    print(json.dumps(results))


if __name__ == "__main__":
    main()
