"""Canonical batches as the TensorDicts that TorchRL's modules read, and back."""

from __future__ import annotations

from typing import Any

from ....probes.adapters.torchrl import Parts
from ..pieces import Batch
from ..torch_types import Tensor, load_torch


class Rows:
    """Turns batches of one pair to and fro; names of entries are those that its loss and its policy give."""

    def __init__(self, parts: Parts, spec: Any, *, discrete: bool) -> None:
        self.parts, self.discrete = parts, discrete
        self.one_hot = discrete and str(type(spec).__name__).startswith("OneHot")
        self.count = int(spec.space.n) if discrete else 0
        keys = getattr(parts.loss, "tensor_keys", None)
        self.scored = str(getattr(keys, "sample_log_prob", "action_log_prob"))
        self.observed = str(parts.policy.in_keys[0])

    def seen(self, obs: Tensor) -> Any:
        """Observations [B, D] as the policy takes them."""
        from tensordict import TensorDict

        return TensorDict({self.observed: obs}, batch_size=[len(obs)])

    def stored(self, action: Tensor) -> Tensor:
        """An action of a canonical batch as it is stored here."""
        if not self.one_hot:
            return action
        functional: Any = load_torch().nn.functional
        return functional.one_hot(action, self.count)

    def shown(self, action: Tensor) -> Tensor:
        """A stored action as canonical batches hold it."""
        return action.argmax(-1) if self.one_hot else action

    def value(self, obs: Tensor) -> Tensor:
        """V [B]."""
        return self.parts.value(self.seen(obs))["state_value"].squeeze(-1)

    def of(self, batch: Batch) -> Any:
        """A canonical minibatch [B, ...] as the loss takes it."""
        found = self.seen(batch["obs"])
        found["action"] = self.stored(batch["action"])
        found[self.scored] = batch["log_prob"]
        for key, name in (("advantage", "advantage"), ("value_target", "value_target"), ("value", "state_value")):
            if key in batch:
                found[name] = batch[key].reshape(-1, 1)
        return found

    def replay(self, batch: Batch) -> Any:
        """A canonical replay sample [B, ...] as the loss takes it."""
        from tensordict import TensorDict

        rows = [len(batch["obs"])]
        ended = batch["terminated"].reshape(-1, 1).bool()
        cut = batch["truncated"].reshape(-1, 1).bool() & ~ended if "truncated" in batch else ended & False
        after = {self.observed: batch["next_obs"], "reward": batch["reward"].reshape(-1, 1)}
        after |= {"terminated": ended, "truncated": cut, "done": ended | cut}
        found = self.seen(batch["obs"])
        found["action"], found["next"] = self.stored(batch["action"]), TensorDict(after, batch_size=rows)
        return found

    def replayed(self, found: Any) -> Batch:
        """Rows [B] of a replay buffer under canonical keys."""
        after = found["next"]
        rows = {"obs": found[self.observed], "action": self.shown(found["action"]), "next_obs": after[self.observed]}
        rows |= {"reward": after["reward"].reshape(-1), "terminated": after["terminated"].reshape(-1).bool()}
        return {key: column.detach().clone() for key, column in rows.items()}

    def canonical(self, batch: Any) -> Batch:
        """A batch [T, N] of the collector under canonical keys, those that it has."""
        rows = {"obs": batch[self.observed], "action": self.shown(batch["action"]), "log_prob": batch[self.scored]}
        after = batch["next"]
        rows |= {key: after[key].squeeze(-1) for key in ("reward", "terminated", "truncated")}
        for key, name in (("advantage", "advantage"), ("value_target", "value_target"), ("value", "state_value")):
            if name in batch.keys():  # noqa: SIM118 (a TensorDict)
                rows[key] = batch[name].squeeze(-1)
        if self.parts.value is not None:
            with load_torch().no_grad():
                rows["next_value"] = self.parts.value(after.select(self.observed).clone())["state_value"].squeeze(-1)
        return {key: column.detach().clone() for key, column in rows.items()}


class Columns:
    """The pair's estimator on columns of numbers: its value network is replaced by one that reads the value off."""

    def __init__(self, parts: Parts) -> None:
        self.outer = parts.advantage
        modules = (m for held in _held(parts.advantage) if hasattr(held, "modules") for m in held.modules())
        self.estimator = next((m for m in modules if hasattr(m, "value_network")), None)

    @property
    def usable(self) -> bool:
        """Whether the estimator asks its network for the value of each next observation, and returns raw advantages."""
        found = self.estimator
        return found is not None and not getattr(found, "shifted", False) and not getattr(found, "average_gae", False)

    def advantages(
        self, reward: Tensor, value: Tensor, next_value: Tensor, terminated: Tensor, truncated: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The estimator on these columns [T, N]."""
        from tensordict import TensorDict
        from tensordict.nn import TensorDictModule

        assert self.estimator is not None
        net = self.estimator.value_network
        observed = str(net.in_keys[0])
        turned = (column.transpose(0, 1).unsqueeze(-1) for column in (reward, value, next_value, terminated, truncated))
        paid, worth, worth_after, ended, cut = turned
        after = {observed: worth_after, "reward": paid, "terminated": ended, "truncated": cut, "done": ended | cut}
        shape = [*paid.shape[:2]]
        rows: Any = TensorDict({observed: worth, "next": TensorDict(after, batch_size=shape)}, batch_size=shape)
        reads = TensorDictModule(_as_it_is, in_keys=[observed], out_keys=["state_value"])
        self.estimator.value_network = reads
        try:
            with load_torch().no_grad():
                self.outer(rows)
        finally:
            self.estimator.value_network = net
        advantage, target = (rows[name].squeeze(-1).transpose(0, 1) for name in ("advantage", "value_target"))
        return advantage, target


def _held(advantage: Any) -> list[Any]:
    """`advantage` itself, or what a function, method or partial made around an estimator holds of it."""
    if hasattr(advantage, "modules"):
        return [advantage]
    cells = [cell.cell_contents for cell in getattr(advantage, "__closure__", None) or ()]
    return [*cells, getattr(advantage, "__self__", None), *getattr(advantage, "args", ())]


def _as_it_is(seen: Tensor) -> Tensor:
    """The value of an observation that is its own value."""
    return seen.clone()
