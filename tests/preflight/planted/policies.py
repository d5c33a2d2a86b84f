"""Planted bugs of policies, and environments on which a right expert is no better than chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from .bases import Drive, cartpole, pendulum
from .catalogue import planted

RNG = np.random.default_rng(0)


def steer(obs: Any) -> Any:
    """A proportional-derivative controller that drives to the origin."""
    return np.clip(-1.0 * obs[:2] - 1.5 * obs[2:4], -1, 1).astype(np.float32)


for name in ("policy-continuous-for-discrete",):
    planted(name)(cartpole)
for name in ("policy-discrete-for-continuous", "policy-not-squashed", "policy-not-scaled"):
    planted(name)(pendulum)
for name in ("policy-wrong-shape", "policy-wrong-dtype", "policy-constant"):
    planted(name)(Drive)
planted("policy-not-squashed", "twin")(pendulum)


@planted("policy-continuous-for-discrete", "policy")
def logits(obs: Any) -> Any:
    return np.array([obs[2], -obs[2]], np.float32)


@planted("policy-discrete-for-continuous", "policy")
def integer(obs: Any) -> Any:
    return int(obs[0] > 0)


@planted("policy-not-squashed", "policy")
def unsquashed(obs: Any) -> Any:
    return RNG.normal(0, 10, 1).astype(np.float32)


@planted("policy-not-squashed", "twin_policy")
def near_the_bound(obs: Any) -> Any:
    return (2 * np.tanh(RNG.normal(0, 1.5, 1))).astype(np.float32)


@planted("policy-not-scaled", "policy")
def unscaled(obs: Any) -> Any:
    return np.tanh(RNG.normal(0, 1.5, 1)).astype(np.float32)


@planted("policy-wrong-shape", "policy")
def row(obs: Any) -> Any:
    return steer(obs)[None]


@planted("policy-wrong-dtype", "policy")
def rounded(obs: Any) -> Any:
    return np.round(steer(obs)).astype(np.int64)


@planted("policy-constant", "policy")
def constant(obs: Any) -> Any:
    return np.array([0.3, -0.2], np.float32)


@planted("clipped-after-log-prob", "policy")
def wide(obs: Any) -> Any:
    return RNG.normal(0, 3, 1).astype(np.float32)


@planted("clipped-after-log-prob", "twin_policy")
def narrow(obs: Any) -> Any:
    return RNG.normal(0, 0.3, 1).astype(np.float32)


@planted("expert-worse-reward-sign")
class PaidForDistance(Drive):
    def pays(self, action: Any) -> Any:
        return -super().pays(action)


@planted("expert-not-better-action-mapping")
class Swapped(Drive):
    def moves(self, force: Any) -> None:
        super().moves(-force[::-1])


@planted("expert-not-better-noise")
class Offset(Drive):
    """The list says N(0, 1000); on this Drive the expert is 580 better, which only ten times as much noise hides."""

    def pays(self, action: Any) -> Any:
        return super().pays(action) + (float(self.np_random.normal(0, 10_000)) if self.t == 1 else 0.0)


@planted("expert-not-better-noise", "twin")
class SmallOffset(Drive):
    def pays(self, action: Any) -> Any:
        return super().pays(action) + (float(self.np_random.normal(0, 20)) if self.t == 1 else 0.0)


for identifier in ("expert-worse-reward-sign", "expert-not-better-action-mapping", "expert-not-better-noise"):
    planted(identifier, "expert")(steer)
