"""Small PPO trainers that do something unusual, some of them rightly so."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.distributions import Categorical, Normal

from firstbreak.preflight.invariants.pieces import Pieces

from .small_trainers import ACTIONS, GAMMA, LAM, OBS, SmallPPO, net


def clipped_gain(new: Any, old: Any, advantage: Any) -> Any:
    ratio = (new - old).exp()
    return torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)


class OddPPO(SmallPPO):
    """SmallPPO with another policy loss, value loss or update, by name."""

    def __init__(self, odd: str = "", entropy: float = 0.0, mask: bool = False) -> None:
        super().__init__("", entropy, mask)
        self.odd = odd
        if odd == "frozen_bias":
            self.actor[0].bias.requires_grad_(False)
            kept = [w for w in (*self.actor.parameters(), *self.critic.parameters()) if w.requires_grad]
            self.optimiser = torch.optim.Adam(kept, lr=3e-3)
        if odd == "climbs_the_loss":
            groups = [{"params": [*self.actor.parameters()], "maximize": True}, {"params": [*self.critic.parameters()]}]
            self.optimiser = torch.optim.Adam(groups, lr=3e-3)
        if odd == "plain_sgd":
            self.optimiser = torch.optim.SGD([*self.actor.parameters(), *self.critic.parameters()], lr=0.05)
        if odd in {"slow_critic", "still_critic"}:
            rates = {"slow_critic": 1e-6, "still_critic": 0.0}
            groups = [{"params": [*self.actor.parameters()]}]
            groups += [{"params": [*self.critic.parameters()], "lr": rates[odd]}]
            self.optimiser = torch.optim.Adam(groups, lr=3e-3)

    def log_prob(self, obs: Any, action: Any) -> Any:
        logits = self.actor(obs)
        if self.odd == "tempered_scoring":
            logits = logits / 2.0
        if self.odd == "scored_in_double":
            return Categorical(logits=logits.double()).log_prob(action).float()
        if self.odd == "shifted_logits":
            logits = logits + 50.0
        return Categorical(logits=logits).log_prob(action)

    def act(self, obs: Any) -> Any:
        policy = Categorical(logits=self.actor(obs))
        action = policy.sample()
        return action, policy.log_prob(action)

    def losses(self, b: Any) -> dict[str, Any]:
        odd, advantage, policy = self.odd, b["advantage"], Categorical(logits=self.actor(b["obs"]))
        several = len(advantage) > 1 and odd in {"normalised", "normalised_guarded"}
        if several or odd == "normalised_badly":
            centred = advantage - advantage.mean()
            spread = (centred.square().sum() / (len(centred) - 1)).sqrt()  # as std(), which warns of one row
            advantage = centred / (spread + (0.0 if odd == "normalised_badly" else 1e-8))
        if odd == "neighbour":
            advantage = advantage.roll(1)
        new = policy.log_prob(b["action"])
        if odd == "gathered":
            new = self.actor(b["obs"]).log_softmax(-1).gather(-1, b["action"].unsqueeze(-1)).squeeze(-1)
        gain = clipped_gain(new, b["log_prob"], advantage)
        value = self.value(b["obs"])
        if odd in {"advantage_leaks", "advantage_detached"}:
            shift = b["value_target"] - value
            shift = shift.detach() if odd == "advantage_detached" else shift
            gain = clipped_gain(new, b["log_prob"], advantage + advantage.abs() * (shift - shift.detach()))
        if odd == "quotient":
            ratio = new.exp() / b["log_prob"].exp()
            gain = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        if odd == "columns":
            gain = clipped_gain(new.unsqueeze(-1), b["log_prob"].unsqueeze(-1), advantage.unsqueeze(-1)).squeeze(-1)
        if odd == "costs":
            ratio = (new - b["log_prob"]).exp()
            gain = -torch.maximum(-ratio * advantage, -ratio.clamp(0.8, 1.2) * advantage)
        if odd == "dual_clip":
            gain = torch.where(advantage < 0, torch.maximum(gain, 3.0 * advantage), gain)
        if odd == "selected":
            chosen = b["mask"] > 0
            gain, value, b = gain[chosen], value[chosen], {k: v[chosen] for k, v in b.items()}
        elif self.mask:
            gain = gain * b["mask"] * len(b["mask"]) / b["mask"].sum()
        weight = {"faint_policy": 0.01}.get(odd, 1.0)
        terms = {"policy": -weight * gain.mean(), "value": self._value_loss(value, b)}
        terms["entropy"] = -self.entropy * policy.entropy().mean()
        if odd == "logits_pulled":
            terms["extra"] = 0.05 * (self.actor(b["obs"]) ** 2).mean()
        if odd == "sum_over_count":
            terms["policy"] = -gain.sum() / len(gain)
        return terms

    def _value_loss(self, value: Any, b: Any) -> Any:
        error = (value - b["value_target"]) ** 2
        if self.odd == "value_clip":
            near = b["value"] + (value - b["value"]).clamp(-0.2, 0.2)
            error = torch.maximum(error, (near - b["value_target"]) ** 2)
        if self.odd == "columns":
            error = (value.unsqueeze(-1) - b["value_target"].unsqueeze(-1)) ** 2
        if self.mask and self.odd != "selected":
            return 0.5 * (error * b["mask"]).sum() / b["mask"].sum()
        return {"faint_value": 0.01}.get(self.odd, 0.5) * error.mean()

    def update(self, b: Any) -> None:
        if self.odd == "two_optimisers":
            held = [torch.optim.Adam(n.parameters(), lr=3e-3) for n in (self.actor, self.critic)]
            sum(self.losses(b).values()).backward()
            for optimiser in held:
                optimiser.step()
                optimiser.zero_grad()
            return
        forgets = {"forgets_critic": self.critic, "forgets_actor": self.actor}.get(self.odd)
        weights = [] if forgets is None else [w.detach().clone() for w in forgets.parameters()]
        if self.odd != "clears_afterwards":
            self.optimiser.zero_grad()
        sum(self.losses(b).values()).backward()
        if self.odd == "clips_apart":
            for network in (self.actor, self.critic):
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
        self.optimiser.step()
        if self.odd == "clears_afterwards":
            self.optimiser.zero_grad(set_to_none=False)
        if forgets is not None:
            with torch.no_grad():
                for weight, old in zip(forgets.parameters(), weights, strict=True):
                    weight.copy_(old)

    def iterate(self) -> None:
        if self.odd in {"normalised_badly", "normalised_guarded"}:
            batch = self.minibatch()
            for rows in (slice(0, 15), slice(15, 16)):  # the last minibatch has one row
                self.update({k: v[rows] for k, v in batch.items()})
            return
        rates = {"fast_decay": 0.0, "slow_decay": 0.9}
        for _ in range(1 if self.odd == "one_step" else 3):
            self.update(self.minibatch())
            if self.odd in rates:
                self.optimiser.param_groups[0]["lr"] = 3e-3 * rates[self.odd]


class GaussianPPO(SmallPPO):
    """One continuous action in [-1, 1]."""

    def log_prob(self, obs: Any, action: Any) -> Any:
        return Normal(self.actor(obs)[..., 0], 0.5).log_prob(action.squeeze(-1))

    def act(self, obs: Any) -> Any:
        policy = Normal(self.actor(obs)[..., 0], 0.5)
        action = policy.sample()
        return action.unsqueeze(-1), policy.log_prob(action)

    def pieces(self) -> Pieces:
        found = super().pieces()
        settings = {k: v for k, v in found.settings.items() if k != "n_actions"}
        return Pieces(
            "PPO",
            actor=self.actor,
            minibatch=self.minibatch,
            act=self.act,
            log_prob=self.log_prob,
            settings={**settings, "action_low": [-1.0], "action_high": [1.0]},
        )


class SharedPPO(SmallPPO):
    """Actor and critic on one trunk (`shared`), or the critic on the actor's features (`leaks`, `detached`)."""

    def __init__(self, way: str = "shared", value_coef: float = 0.5) -> None:
        super().__init__()
        self.way, self.value_coef = way, value_coef
        self.trunk, self.head, self.value_head = net(OBS, 24), nn.Linear(24, ACTIONS), nn.Linear(24, 1)
        self.actor = nn.Sequential(self.trunk, self.head)
        own = nn.Sequential(self.value_head)
        self.critic = nn.Sequential(self.trunk, self.value_head) if way == "shared" else own
        weights = {id(w): w for m in (self.actor, self.critic) for w in m.parameters()}
        self.optimiser = torch.optim.Adam(weights.values(), lr=3e-3)

    def value(self, obs: Any) -> Any:
        features = self.trunk(obs)
        return self.value_head(features.detach() if self.way == "detached" else features).squeeze(-1)

    def losses(self, b: Any) -> dict[str, Any]:
        new = self.log_prob(b["obs"], b["action"])
        error = (self.value(b["obs"]) - b["value_target"]) ** 2
        gain = clipped_gain(new, b["log_prob"], b["advantage"])
        return {"policy": -gain.mean(), "value": self.value_coef * error.mean()}


def long_gae(r: Any, v: Any, after: Any, ended: Any, cut: Any) -> tuple[Any, Any]:
    """GAE as explicit sums over what follows, without a recursion."""
    delta = r + GAMMA * after * (~ended) - v
    advantage = torch.zeros_like(r)
    for t in range(len(r)):
        weight = torch.ones_like(r[0])
        for k in range(t, len(r)):
            advantage[t] += weight * delta[k]
            weight = weight * GAMMA * LAM * (~(ended[k] | cut[k]))
    return advantage, v + advantage
