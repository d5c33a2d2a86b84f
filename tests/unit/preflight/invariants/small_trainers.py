"""Three small hand-written trainers with a switch for every bug, and their `Pieces`."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.distributions import Categorical, Normal

from firstbreak.preflight.invariants.pieces import Pieces

torch.set_num_threads(1)
OBS, ACTIONS, GAMMA, LAM = 5, 3, 0.9, 0.8


def net(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 24), nn.Tanh(), nn.Linear(24, outputs))


def gae(bug: str, r: Any, v: Any, after: Any, ended: Any, cut: Any) -> tuple[Any, Any]:
    """By backward recursion on [T, N]."""
    ended, cut = ended.float(), cut.float()
    done = torch.clamp(ended + cut, max=1.0)
    if bug == "gae_flat":
        r, v, after, ended, done = (x.T.reshape(-1, 1) for x in (r, v, after, ended, done))
    stop = {"gae_cut": done, "gae_never": torch.zeros_like(ended)}.get(bug, ended)
    trace_stop = ended if bug == "gae_trace" else done
    gamma, lam = (LAM, GAMMA) if bug == "gae_swapped" else (GAMMA, LAM)
    if bug == "gae_last":
        after = after.clone()
        after[-1] = 0.0
    advantage, trace = torch.zeros_like(r), torch.zeros_like(r[0])
    for t in reversed(range(len(r))):
        trace = r[t] + gamma * (1 - stop[t]) * after[t] - v[t] + gamma * lam * (1 - trace_stop[t]) * trace
        advantage[t] = trace
    target = advantage if bug == "target_only_advantage" else advantage + v
    if bug == "gae_flat":
        n = 3
        return advantage.reshape(n, -1).T, target.reshape(n, -1).T
    return advantage, target


class SmallPPO:
    def __init__(self, bug: str = "", entropy: float = 0.0, mask: bool = False) -> None:
        torch.manual_seed(1)
        self.bug, self.entropy, self.mask = bug, entropy, mask
        self.actor, self.critic = net(OBS, ACTIONS), net(OBS, 1)
        actor, critic = list(self.actor.parameters()), list(self.critic.parameters())
        held = {"no_actor": critic, "no_critic": actor}.get(bug, actor + critic)
        self.optimiser = torch.optim.Adam(held, lr=3e-3)

    def log_prob(self, obs: Any, action: Any) -> Any:
        found = Categorical(logits=self.actor(obs)).log_prob(action)
        return 0.5 * found if self.bug == "half_log_prob" else found

    def act(self, obs: Any) -> Any:
        action = Categorical(logits=self.actor(obs)).sample()
        log_prob = self.log_prob(obs, action)
        return action, log_prob.unsqueeze(-1) if self.bug == "column" else log_prob

    def value(self, obs: Any) -> Any:
        return self.critic(obs).squeeze(-1)

    def losses(self, b: Any) -> dict[str, Any]:
        bug, advantage, policy = self.bug, b["advantage"], Categorical(logits=self.actor(b["obs"]))
        scored = policy.sample() if bug == "resampled" else b["action"]
        new = policy.log_prob(scored)
        if bug == "detached":
            new = new.detach()
        old = new.detach() if bug == "old_recomputed" else b["log_prob"]
        if bug == "pairs":
            pairs = advantage.reshape(-1, 2)
            advantage = ((pairs - pairs.mean(1, keepdim=True)) / (pairs.std(1, keepdim=True) + 1e-8)).reshape(-1)
        if bug == "no_epsilon":
            advantage = (advantage - advantage.mean()) / advantage.std()
        if bug == "broadcast":
            advantage = advantage.unsqueeze(-1)
        ratio = (new - old).exp()
        clipped = ratio.clamp(0.8, 1.2) * advantage
        both = {"clip_only": clipped, "clip_max": torch.maximum(ratio * advantage, clipped)}
        gain = both.get(bug, torch.minimum(ratio * advantage, clipped))
        weight = b["mask"] if self.mask else torch.ones(len(b["obs"]))
        count = len(weight) if bug == "mask_mean" else weight.sum()
        value = self.value(b["obs"])
        if bug == "value_broadcast":
            value = value.unsqueeze(-1)
        if bug == "value_clip_zero":
            value = value.clamp(-0.2, 0.2)
        error = (value - b["value_target"]) ** 2
        sign = 1.0 if bug == "flipped" else -1.0
        value_weight = torch.ones_like(weight) if bug == "mask_value" else weight
        per_row = error.mean(-1) if bug == "value_broadcast" else error
        terms = {
            "policy": sign * (gain * weight).sum() / (count * (len(weight) if bug == "broadcast" else 1)),
            "value": 0.5 * (per_row * value_weight).sum() / (value_weight.sum() if bug == "mask_value" else count),
            "entropy": (1.0 if bug == "entropy_up" else -1.0) * self.entropy * policy.entropy().mean(),
        }
        if bug == "value_zero":
            terms["value"] = 0.0 * terms["value"]
        if bug == "summed":
            terms = {k: v * len(weight) for k, v in terms.items()}
        return terms

    def update(self, b: Any) -> None:
        if self.bug != "no_zero_grad":
            self.optimiser.zero_grad()
        sum(self.losses(b).values()).backward()
        if self.bug == "tiny_clip":
            nn.utils.clip_grad_norm_([*self.actor.parameters(), *self.critic.parameters()], 1e-7)
        self.optimiser.step()
        if self.bug == "twice":
            self.optimiser.step()

    def minibatch(self) -> dict[str, Any]:
        obs = torch.randn(16, OBS)
        with torch.no_grad():
            action, log_prob = self.act(obs)
        rows = {"obs": obs, "action": action, "log_prob": log_prob.reshape(-1), "advantage": torch.randn(16)}
        rows |= {"value": self.value(obs).detach(), "value_target": torch.randn(16)}
        return {**rows, "mask": torch.ones(16)} if self.mask else rows

    def iterate(self) -> None:
        for _ in range(0 if self.bug == "no_steps" else 3):
            self.update(self.minibatch())

    def pieces(self) -> Pieces:
        bug = self.bug
        settings = {"gamma": GAMMA, "gae_lambda": LAM, "clip_range": 0.2, "n_actions": ACTIONS}
        return Pieces(
            "PPO",
            actor=self.actor,
            critics=[self.critic],
            optimisers=[self.optimiser],
            minibatch=self.minibatch,
            losses=self.losses,
            update=self.update,
            log_prob=self.log_prob,
            act=self.act,
            value=self.value,
            advantages=lambda *columns: gae(bug, *columns),
            iterate=self.iterate,
            configure=lambda s: setattr(self, "entropy", s.get("entropy_coef", self.entropy)),
            settings={**settings, "entropy_coef": self.entropy},
        )


class SmallDQN:
    def __init__(self, bug: str = "") -> None:
        torch.manual_seed(2)
        self.bug = bug
        self.q, self.target = net(OBS, ACTIONS), net(OBS, ACTIONS)
        if bug == "aliased":
            self.target = self.q
        held = self.target if bug == "holds_target" else self.q
        self.optimiser = torch.optim.Adam(held.parameters(), lr=1e-3)

    def td_target(self, b: Any) -> Any:
        bug = self.bug
        network = self.q if bug in {"online", "residual"} else self.target
        following = network(b["next_obs"]).max(-1).values
        if bug != "residual":
            following = following.detach()
        if bug == "batch_max":
            following = following.max().expand_as(following)
        stop = b["terminated"].float()
        if bug == "done":
            stop = (b["terminated"] | b["truncated"]).float()
        if bug == "never":
            stop = torch.zeros_like(stop)
        gamma = GAMMA**2 if bug == "squared" else GAMMA
        return b["reward"] + gamma * (1 - stop) * following

    def update(self, b: Any) -> None:
        action = (b["action"] + 1) % ACTIONS if self.bug == "gather" else b["action"]
        chosen = self.q(b["obs"]).gather(-1, action.unsqueeze(-1))
        if self.bug != "broadcast":
            chosen = chosen.squeeze(-1)
        error = chosen - self.td_target(b)
        self.optimiser.zero_grad()
        torch.where(error.abs() < 1, 0.5 * error**2, error.abs() - 0.5).mean().backward()
        self.optimiser.step()

    def sync(self) -> None:
        tau = {"frozen": 0.0, "tau": 0.9}.get(self.bug, 0.1)
        with torch.no_grad():
            for online, target in zip(self.q.parameters(), self.target.parameters(), strict=True):
                target.lerp_(online, tau)

    def minibatch(self) -> dict[str, Any]:
        rows = {"obs": torch.randn(16, OBS), "action": torch.randint(ACTIONS, (16,)), "reward": torch.randn(16)}
        off = torch.zeros(16, dtype=torch.bool)
        return {**rows, "next_obs": torch.randn(16, OBS), "terminated": off, "truncated": off.clone()}

    def pieces(self) -> Pieces:
        return Pieces(
            "DQN",
            critics=[self.q],
            target_critics=[self.target],
            optimisers=[self.optimiser],
            minibatch=self.minibatch,
            update=self.update,
            q=lambda obs, action: [self.q(obs).gather(-1, action.unsqueeze(-1)).squeeze(-1)],
            sync_target=self.sync,
            settings={"gamma": GAMMA, "tau": 0.1, "n_actions": ACTIONS, "double": False},
        )


class Critic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = net(OBS + 2, 1)

    def forward(self, obs: Any, action: Any) -> Any:
        return self.net(torch.cat([obs, action], -1)).squeeze(-1)


class SmallSAC:
    def __init__(self, bug: str = "") -> None:
        torch.manual_seed(3)
        self.bug = bug
        self.actor = net(OBS, 4)
        self.critics, self.targets = [Critic(), Critic()], [Critic(), Critic()]
        if bug == "same_twins":
            self.critics[1].load_state_dict(self.critics[0].state_dict())
        self.log_alpha = torch.zeros((), requires_grad=True)
        critics = [w for c in self.critics for w in c.parameters()]
        extra = critics if bug == "actor_holds_critic" else []
        self.optimisers = [
            torch.optim.Adam([*self.actor.parameters(), *extra], lr=1e-3),
            torch.optim.Adam(critics, lr=1e-3),
            torch.optim.Adam([self.log_alpha], lr=1e-3),
        ]
        self.target_entropy = 3.0 if bug == "entropy_target" else -2.0

    def act(self, obs: Any) -> Any:
        mean, log_std = self.actor(obs).chunk(2, -1)
        before = Normal(mean, log_std.exp())
        u = before.rsample()
        action = torch.tanh(u)
        log_prob = before.log_prob(u)
        if self.bug != "no_log_det":
            log_prob = log_prob - (1 - action**2 + 1e-7).log()
        return action, log_prob[..., 0] if self.bug == "first_dimension" else log_prob.sum(-1)

    def td_target(self, b: Any) -> Any:
        bug, keep = self.bug, 1 - b["terminated"].float()
        action, log_prob = self.act(b["next_obs"])
        first, second = (c(b["next_obs"], action) for c in self.targets)
        value = torch.maximum(first, second) if bug == "max" else torch.minimum(first, second)
        entropy = 0.0 if bug == "no_entropy" else self.log_alpha.exp().detach() * log_prob
        if bug == "entropy_unmasked":
            return b["reward"] + GAMMA * keep * value - GAMMA * entropy
        return b["reward"] + GAMMA * keep * (value - entropy)

    def update(self, b: Any) -> None:
        bug, alpha = self.bug, self.log_alpha.exp().detach()
        with torch.no_grad():
            target = self.td_target(b)
        self._step(1, sum(((c(b["obs"], b["action"]) - target) ** 2).mean() for c in self.critics))
        action, log_prob = self.act(b["obs"])
        given = action.detach() if bug == "action_detached" else action
        q = torch.minimum(*(c(b["obs"], given) for c in self.critics))
        self._step(0, (alpha * log_prob + (q if bug == "actor_sign" else -q)).mean())
        sign = 1.0 if bug == "alpha_sign" else -1.0
        if bug != "alpha_still":
            self._step(2, sign * (self.log_alpha * (log_prob.detach() + self.target_entropy)).mean())

    def _step(self, i: int, loss: Any) -> None:
        self.optimisers[i].zero_grad()
        loss.backward()
        self.optimisers[i].step()

    def minibatch(self) -> dict[str, Any]:
        rows = {"obs": torch.randn(16, OBS), "action": torch.rand(16, 2) * 2 - 1, "reward": torch.randn(16)}
        off = torch.zeros(16, dtype=torch.bool)
        return {**rows, "next_obs": torch.randn(16, OBS), "terminated": off, "truncated": off.clone()}

    def pieces(self) -> Pieces:
        bounds = {"action_low": [-1, -1], "action_high": [1, 1], "policy_low": [-1, -1], "policy_high": [1, 1]}
        return Pieces(
            "SAC",
            actor=self.actor,
            critics=self.critics,
            target_critics=self.targets,
            optimisers=self.optimisers,
            minibatch=self.minibatch,
            update=self.update,
            act=self.act,
            q=lambda obs, action: [c(obs, action) for c in self.critics],
            log_temperature=self.log_alpha,
            settings={"gamma": GAMMA, "tau": 0.1, "target_entropy": self.target_entropy, **bounds},
        )
