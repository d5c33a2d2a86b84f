"""Records the labelled runs of a hand-written PPO and MM-RKHS loop on CartPole: `python loop_runs.py OUT [NAME ...]`.

FAULTS gives each fault, the update at which it is switched on, and its link, written down before any run was diagnosed.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

N_ENVS, N_STEPS, GAMMA, LAMBDA, LIMIT = 16, 64, 0.99, 0.95, 500
CONFIG: dict[str, Any] = {"env_id": "CartPole-v1", "num_envs": N_ENVS, "num_steps": N_STEPS, "gamma": GAMMA,
                          "gae_lambda": LAMBDA, "learning_rate": 1e-3, "update_epochs": 4, "minibatch_size": 256,
                          "clip_coef": 0.2, "ent_coef": 0.005, "vf_coef": 0.5, "max_grad_norm": 0.5, "updates": 120,
                          "mmd_coef": 1.0, "kl_inv_eta": 0.2, "exponent_clip": 2.0,
                          "max_episode_steps": LIMIT}  # fmt: skip
HEALTHY = {"ppo": ("PPO", 1), "ppo_seed2": ("PPO", 2), "mmrkhs": ("MM-RKHS", 1), "mmrkhs_seed2": ("MM-RKHS", 2)}
START = 50
FAULTS: dict[str, tuple[str, str, str, str]] = {
    "ppo_lr_jump": ("PPO", "lr", "policy_update", "broken"),
    "ppo_old_logprob": ("PPO", "old_logprob", "policy_update", "broken"),
    "ppo_advantage_bias": ("PPO", "advantage_bias", "policy_update", "broken or undecided"),
    "ppo_entropy_sign": ("PPO", "entropy_sign", "exploration", "broken"),
    "ppo_critic_frozen": ("PPO", "critic_frozen", "critic", "broken"),
    "ppo_critic_target": ("PPO", "critic_target", "critic", "broken"),
    "ppo_reward_zero": ("PPO", "reward_zero", "reward_signal", "broken or undecided"),
    "ppo_reward_flipped": ("PPO", "reward_flipped", "reward_signal", "broken or undecided"),
    "ppo_reward_spikes": ("PPO", "reward_spikes", "reward_signal", "broken or undecided"),
    "ppo_observation": ("PPO", "observation", "environment_data", "broken or undecided"),
    "ppo_stale": ("PPO", "stale", "data_freshness", "broken"),
    "ppo_batch_repeated": ("PPO", "batch_repeated", "data_freshness", "broken or undecided"),
    "ppo_nan": ("PPO", "nan", "numerics", "broken"),
    "ppo_gradient_x1e4": ("PPO", "gradient", "numerics", "broken or undecided"),
    "ppo_no_step": ("PPO", "no_step", "policy_update", "broken"),
    "mmrkhs_lr_jump": ("MM-RKHS", "lr", "policy_update", "broken"),
    "mmrkhs_inert": ("MM-RKHS", "mmd_inert", "policy_update", "broken or undecided"),
    "mmrkhs_dominates": ("MM-RKHS", "mmd_dominates", "policy_update", "broken or undecided"),
    "mmrkhs_exponent": ("MM-RKHS", "exponent", "policy_update", "broken"),
    "mmrkhs_stale": ("MM-RKHS", "stale", "data_freshness", "broken"),
}


class CartPoles:
    """Many cart-poles at once, with Gymnasium's dynamics."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.x = self.rng.uniform(-0.05, 0.05, (N_ENVS, 4))
        self.steps = np.zeros(N_ENVS)

    def step(self, action):
        x, v, angle, spin = self.x.T
        force, cos, sin = np.where(action == 1, 10.0, -10.0), np.cos(angle), np.sin(angle)
        part = (force + 0.05 * spin**2 * sin) / 1.1
        turn = (9.8 * sin - cos * part) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        push = part - 0.05 * turn * cos / 1.1
        self.x = np.stack([x + 0.02 * v, v + 0.02 * push, angle + 0.02 * spin, spin + 0.02 * turn], axis=1)
        self.steps += 1
        fell = (abs(self.x[:, 0]) > 2.4) | (abs(self.x[:, 2]) > 0.2095)
        late = ~fell & (self.steps >= LIMIT)
        end, lengths = fell | late, self.steps[fell | late].copy()
        last = self.x.copy()
        self.x[end] = self.rng.uniform(-0.05, 0.05, (int(end.sum()), 4))
        self.steps[end] = 0
        return last, fell, late, lengths


def net(out: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, out))


class Trainer:
    """One run: `fault` acts from update `START` on."""

    def __init__(self, algorithm: str, fault: str, seed: int) -> None:
        torch.manual_seed(seed)
        self.algorithm, self.fault, self.rng = algorithm, fault, np.random.default_rng(seed)
        self.env, self.pi, self.v = CartPoles(seed), net(2), net(1)
        nn.init.normal_(self.pi[-1].weight, std=0.01)
        parameters = [*self.pi.parameters(), *self.v.parameters()]
        self.optimiser = torch.optim.Adam(parameters, lr=CONFIG["learning_rate"], eps=1e-5)
        self.history: list[dict[str, Any]] = []
        self.recent: list[float] = []
        self.old: Any = None

    def on(self, fault: str) -> bool:
        return self.fault == fault and self.now >= START

    def see(self):
        obs = torch.as_tensor(self.env.x, dtype=torch.float32)
        return obs[:, torch.tensor([2, 3, 0, 1])] if self.on("observation") else obs

    def collect(self):
        """Collect a rollout of [N_STEPS, N_ENVS]."""
        self.history.append({k: v.clone() for k, v in self.pi.state_dict().items()})
        lag = 20 if self.on("stale") else 0
        actor = net(2)
        actor.load_state_dict(self.history[-1 - lag])
        self.history = self.history[-40:]
        data: dict[str, list[Any]] = {k: [] for k in ("obs", "act", "logp", "rew", "end", "next_v", "p")}
        for _ in range(N_STEPS):
            obs = self.see()
            with torch.no_grad():
                logp = actor(obs).log_softmax(-1)
            act = torch.multinomial(logp.exp(), 1)[:, 0]
            last, fell, late, lengths = self.env.step(act.numpy())
            self.recent = (self.recent + list(lengths))[-100:]
            with torch.no_grad():
                after = self.v(torch.as_tensor(last, dtype=torch.float32))[:, 0] * torch.as_tensor(~fell)
            chosen = logp.gather(1, act[:, None])[:, 0]
            row = (obs, act, chosen, self.reward(), torch.as_tensor(fell | late), after, logp)
            for key, value in zip(data, row, strict=True):
                data[key].append(value)
        return lag, {k: torch.stack(v) for k, v in data.items()}

    def reward(self):
        reward = torch.ones(N_ENVS)
        if self.on("reward_zero") or self.on("reward_flipped"):
            reward = reward * (0.0 if self.fault == "reward_zero" else -1.0)
        if self.on("reward_spikes"):
            reward = reward + 1e4 * torch.as_tensor(self.rng.random(N_ENVS) < 0.002) * self.rng.choice([-1, 1])
        return reward

    def advantages(self, data):
        with torch.no_grad():
            value = self.v(data["obs"])[..., 0]
        advantage, running = torch.zeros_like(value), torch.zeros(N_ENVS)
        for t in reversed(range(N_STEPS)):
            delta = data["rew"][t] + GAMMA * data["next_v"][t] - value[t]
            running = delta + GAMMA * LAMBDA * ~data["end"][t] * running
            advantage[t] = running
        return advantage, advantage + value, value

    def policy_loss(self, logits, p_old, act, logp_old, advantage, log):
        logp_all = logits.log_softmax(-1)
        log_ratio = logp_all.gather(1, act[:, None])[:, 0] - logp_old
        ratio = log_ratio.exp()
        log["ratio"].append(ratio.detach())
        log["approx_kl"].append(float((ratio - 1 - log_ratio).detach().mean()))
        if self.algorithm == "PPO":
            log["clip_fraction"].append(float(((ratio - 1).abs() > 0.2).float().mean()))
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        else:
            cap = 1e-3 if self.on("exponent") else CONFIG["exponent_clip"]
            coef = {"mmd_inert": 1e-9, "mmd_dominates": 1e4}.get(self.fault if self.now >= START else "", 1.0)
            log["exponent_clip_fraction"].append(float((log_ratio.abs() > cap).float().mean()))
            mmd = ((logp_all.exp() - p_old.exp()) ** 2).sum(-1).mean()
            gain = (log_ratio.clamp(-cap, cap).exp() * advantage).mean()
            parts = [torch.autograd.grad(x, logits, retain_graph=True)[0].norm() for x in (coef * mmd, gain)]
            log["mmd"].append(float(mmd.detach()))
            log["mmd_grad_ratio"].append(float(parts[0] / (parts[1] + 1e-12)))
            log["mmd_coef"].append(coef)
            loss = -gain + coef * mmd + CONFIG["kl_inv_eta"] * (p_old.exp() * (p_old - logp_all)).sum(-1).mean()
        return loss, -(logp_all.exp() * logp_all).sum(-1).mean()

    def update(self, data, log):
        advantage, returns, value = self.advantages(data)
        log["explained_variance"].append(float(1 - (returns - value).var() / returns.var()))
        log["advantage_mean"].append(float(advantage.mean()))
        log["advantage_std"].append(float(advantage.std()))
        log["advantage_abs_max"].append(float(advantage.abs().max()))
        log["value_mean"].append(float(value.mean()))
        if self.on("critic_target"):
            returns = returns.flatten()[torch.randperm(returns.numel())].view_as(returns) * 3
        flat = {k: v.flatten(0, 1) for k, v in data.items()}
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        advantage = advantage + (3.0 if self.on("advantage_bias") else 0.0)
        logp_old = flat["logp"] - (0.3 if self.on("old_logprob") else 0.0)
        for _ in range(CONFIG["update_epochs"]):
            for part in torch.randperm(N_STEPS * N_ENVS).split(CONFIG["minibatch_size"]):
                obs, logits = flat["obs"][part], self.pi(flat["obs"][part])
                batch = (flat["p"][part], flat["act"][part], logp_old[part], advantage.flatten()[part])
                loss, entropy = self.policy_loss(logits, *batch, log)
                v_loss = ((self.v(obs)[:, 0] - returns.flatten()[part]) ** 2).mean()
                bonus = CONFIG["ent_coef"] * entropy * (-200 if self.on("entropy_sign") else 1)
                self.descend(loss - bonus + CONFIG["vf_coef"] * v_loss * (0 if self.on("critic_frozen") else 1), log)
                for key, x in (("policy_loss", loss), ("value_loss", v_loss), ("entropy", entropy)):
                    log[key].append(float(x.detach()))

    def descend(self, loss, log):
        loss = loss * (1e4 if self.on("gradient") else 1) * (float("nan") if self.on("nan") else 1)
        self.optimiser.zero_grad()
        loss.backward()
        parameters = [p for group in self.optimiser.param_groups for p in group["params"]]
        log["critic_grad_norm"].append(float(nn.utils.get_total_norm([p.grad for p in self.v.parameters()])))
        log["grad_norm"].append(float(nn.utils.clip_grad_norm_(parameters, CONFIG["max_grad_norm"])))
        for group in self.optimiser.param_groups:
            group["lr"] = CONFIG["learning_rate"] * (100 if self.on("lr") else 1)
        if not self.on("no_step"):
            self.optimiser.step()

    def run(self, out: Path) -> None:
        began = time.perf_counter()
        with (out / "metrics.jsonl").open("w") as file:
            for self.now in range(1, CONFIG["updates"] + 1):
                lag, data = self.collect()
                if self.on("batch_repeated"):
                    data = self.old
                self.old = data
                keys = ("ratio", "approx_kl", "clip_fraction", "policy_loss", "value_loss", "entropy", "grad_norm",
                        "critic_grad_norm", "explained_variance", "advantage_mean", "advantage_std",
                        "advantage_abs_max", "value_mean", "mmd", "mmd_coef", "mmd_grad_ratio",
                        "exponent_clip_fraction")  # fmt: skip
                log: dict[str, list[Any]] = {k: [] for k in keys}
                self.update(data, log)
                row = self.row(log, data, lag)
                row["fps"] = round(self.now * N_STEPS * N_ENVS / (time.perf_counter() - began))
                file.write(json.dumps({k: float(f"{v:.6g}") for k, v in row.items()}) + "\n")

    def row(self, log, data, lag) -> dict[str, float]:
        ratios = log.pop("ratio")
        last, first = torch.cat(ratios[-4:]), ratios[0]
        hidden = self.pi[:4](data["obs"].flatten(0, 1)).detach()
        spectrum = torch.linalg.svdvals(hidden.nan_to_num())
        return {
            "update": self.now, "global_step": self.now * N_STEPS * N_ENVS,
            "episode_return": float(np.mean(self.recent or [0])), "episode_length": float(np.mean(self.recent or [0])),
            "learning_rate": self.optimiser.param_groups[0]["lr"],
            **{k: float(np.mean(v)) for k, v in log.items() if v},
            "ratio_first_minibatch": float(first.mean()), "ratio_max": float(last.max()),
            "ess_fraction": float(last.sum() ** 2 / (last**2).sum() / last.numel()), "staleness_mean": lag,
            "dormant_fraction": float((hidden.abs().mean(0) < 0.025 * hidden.abs().mean()).float().mean()),
            "feature_rank": float((spectrum.cumsum(0) / spectrum.sum() < 0.99).sum() + 1),
            "weight_norm": float(nn.utils.get_total_norm(list(self.pi.parameters()))),
        }  # fmt: skip


def main(place: str, *names: str) -> None:
    torch.set_num_threads(1)
    for name in names or [*HEALTHY, *FAULTS]:
        out = Path(place) / name
        out.mkdir(parents=True, exist_ok=True)
        algorithm, fault = FAULTS[name][:2] if name in FAULTS else (HEALTHY[name][0], "")
        try:
            Trainer(algorithm, fault, HEALTHY.get(name, ("", 3))[1]).run(out)
        except RuntimeError as error:
            print(f"{name}: stopped by {str(error).splitlines()[0]}")
        (out / "config.json").write_text(json.dumps({"algorithm": algorithm, **CONFIG}, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
