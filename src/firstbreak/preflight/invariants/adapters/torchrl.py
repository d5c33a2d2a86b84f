"""`Pieces` of a pair of a TorchRL collector and loss, `torchrl:module:make`: the same builder as for the probes.

What `make(make_env, *, total_steps, seed[, gamma])` returns (`firstbreak.probes.adapters.torchrl.Parts`) is taken hold
of through its own modules: the collector collects, the estimator estimates, the loss is called on TensorDicts whose
entries are set. A loop of the user's own (`Parts.update`) cannot be fed single minibatches: of it only its first rounds
are watched.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any, cast

from ....errors import InputError
from ....probes.adapters.torchrl import Parts, discount_of, learn_from
from ....probes.environments.torchrl_env import wrapped
from ....target import load_target
from ..pieces import Batch, Pieces
from ..torch_types import Tensor, load_torch
from ..witness import Ledger, make_witness, witnessed
from .torchrl_rows import Rows

GAMMA = 0.97
"""Asked of a builder that takes a discount: no default of a library, so that one of its own shows."""
TOTAL_STEPS = 768_000
"""A planned run that most sizes of a collector's batches divide: 2^11 x 3 x 5^3."""
ROUNDS = 3
"""Batches of the collector in `iterate`."""


def build_all(name: str, seed: int) -> list[Pieces]:
    """Return the pieces of the builder `name` (without its prefix), one for each action space that it takes.

    Raises:
        InputError: it is no function, builds no environment, or returns no `Parts`.
    """
    make = load_target(name)
    if not callable(make):
        raise InputError(f"{name} is {type(make).__name__}, not a function.", "Write: def make(make_env, ...) -> Parts")
    kinds = tuple(getattr(make, "actions", ())) or ("discrete",)
    return [build(cast("Callable[..., Parts]", make), kind, seed) for kind in kinds]


def build(make: Callable[..., Parts], kind: str, seed: int) -> Pieces:
    """Build `make` on witness environments with actions of this `kind`.

    Raises:
        InputError: see `build_all`.
    """
    from .torchrl_off_policy import OffPolicy
    from .torchrl_on_policy import OnPolicy

    made = Made(make, kind, seed)
    replays = made.parts.replay_buffer is not None or (made.parts.q is not None and made.parts.advantage is None)
    return (OffPolicy if replays else OnPolicy)(made).pieces()


class Made:
    """The parts that a builder returned, on witness environments."""

    def __init__(self, make: Callable[..., Parts], kind: str, seed: int) -> None:
        self.kind, self.ledgers, made = kind, list[Ledger](), list[Any]()

        def make_env(**options: Any) -> Any:
            made.append(wrapped(make_witness(kind, self.ledgers, seed), **options))
            return made[-1]

        given = {"gamma": GAMMA} if "gamma" in inspect.signature(make).parameters else {}
        load_torch().manual_seed(seed)
        found: Any = make(make_env, total_steps=TOTAL_STEPS, seed=seed, **given)
        if not made:
            raise InputError("The builder made no environment.", "Give the collector make_env(), or make_env itself.")
        if not isinstance(found, Parts):
            name = getattr(make, "__name__", str(make))
            raise InputError(
                f"{name} returned {type(found).__name__}, not Parts.",
                "Return firstbreak.probes.adapters.torchrl.Parts(collector=..., policy=..., loss=..., ...).",
            )
        self.parts = found
        self.gamma = given.get("gamma", discount_of(found))
        self.spec = made[0].action_spec


class Pair:
    """What on-policy and off-policy pairs share."""

    def __init__(self, made: Made) -> None:
        self.parts, self.kind, self.ledgers, self.spec = made.parts, made.kind, made.ledgers, made.spec
        self.gamma = made.gamma
        self.discrete = made.kind == "discrete"
        self.rows = Rows(self.parts, self.spec, discrete=self.discrete)
        self.batches: Iterator[Any] = iter(self.parts.collector)

    @property
    def loss(self) -> Any:
        """The loss, where single minibatches can be put to it."""
        return self.parts.loss if self.parts.update is None else None

    @property
    def optimisers(self) -> list[Any]:
        """Every optimiser of the parts."""
        held = self.parts.optimiser
        return [*held] if isinstance(held, (list, tuple)) else [held] if held is not None else []

    def shared_settings(self) -> dict[str, Any]:
        """The discount, the limit on gradients and the actions."""
        found: dict[str, Any] = {} if self.gamma is None else {"gamma": float(self.gamma)}
        if self.parts.max_grad_norm is not None:
            found["max_grad_norm"] = self.parts.max_grad_norm
        if self.discrete:
            return {**found, "n_actions": int(self.spec.space.n)}
        space = self.spec.space
        return {**found, "action_low": space.low.tolist(), "action_high": space.high.tolist()}

    def acted(self, obs: Tensor, kind: str) -> Tensor:
        """The policy's action [B, ...] as it is stored, `RANDOM` or `DETERMINISTIC`."""
        utils: Any = importlib.import_module("torchrl.envs.utils")
        with utils.set_exploration_type(getattr(utils.ExplorationType, kind)):
            return self.parts.policy(self.rows.seen(obs))["action"]

    def log_prob(self, obs: Tensor, action: Tensor) -> Tensor:
        """The policy's own distribution at stored actions."""
        return self.parts.policy.get_dist(self.rows.seen(obs)).log_prob(self.rows.stored(action))

    def act(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """A draw as the collector makes it."""
        shown = self.rows.shown(self.acted(obs, "RANDOM"))
        return shown, self.log_prob(obs, shown)

    def predict(self, obs: Tensor, deterministic: bool) -> Tensor:
        """What evaluation gets."""
        with load_torch().no_grad():
            return self.rows.shown(self.acted(obs, "DETERMINISTIC" if deterministic else "RANDOM"))

    def iterate(self) -> None:
        """The first rounds of TorchRL's own loop."""
        for _ in range(ROUNDS):
            learn_from(self.parts, next(self.batches))

    def seen(self, last: int | None = None) -> Callable[[], Batch] | None:
        """What the environments of the collector saw; their `last` steps."""
        ledgers = [ledger for ledger in self.ledgers if ledger.rows]
        return (lambda: witnessed(ledgers, last)) if ledgers else None
