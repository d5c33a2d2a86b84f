"""An exact, tiny actor-critic on tables, with a switch for each mistake that the ladder is to name."""

from __future__ import annotations

from typing import Any

import numpy as np

ROWS, COPIES, LAMBDA = 16, 4, 0.9


class Tables:
    """V and action preferences by observation; the agent that `make_train` returns."""

    def __init__(self, space: Any, rng: np.random.Generator, bugs: frozenset[str], gamma: float) -> None:
        self.sizes = [int(n) for n in getattr(space, "nvec", [getattr(space, "n", 0)])]
        self.flat = hasattr(space, "n")
        self.rng, self.bugs = rng, bugs
        self.v: dict[bytes, float] = {}
        self.preferences: dict[bytes, list[np.ndarray]] = {}
        if "silent_gamma" not in bugs:
            self.gamma = gamma
        if "no_value" not in bugs:
            self.value = lambda obs: self.v.get(np.asarray(obs, np.float32).tobytes(), 0.0)

    def chances(self, key: bytes) -> list[np.ndarray]:
        key = b"" if "state_blind" in self.bugs else key
        rows = self.preferences.setdefault(key, [np.zeros(n) for n in self.sizes])
        return [np.exp(p - p.max()) / np.exp(p - p.max()).sum() for p in rows]

    def act(self, obs: Any, deterministic: bool) -> Any:
        chances = self.chances(np.asarray(obs, np.float32).tobytes())
        if deterministic and "never_deterministic" not in self.bugs:
            action = [int(c.argmax()) for c in chances]
        else:
            action = [min(int((self.rng.random() > c.cumsum()).sum()), len(c) - 1) for c in chances]
        return action[0] if self.flat else np.array(action)


def make_train(*names: str, rate: float = 0.3, policy_rate: float = 0.25, own_gamma: float = 0.9) -> Any:
    """Return `train` with the mistakes called `names`; `own_gamma` is that of a trainer that takes none."""
    bugs = frozenset(names)

    def train(make_env: Any, *, total_steps: int, seed: int, gamma: float = 0.9) -> Tables:
        rng = np.random.default_rng(seed)
        envs = [make_env() for _ in range(COPIES)]
        tables = Tables(envs[0].action_space, rng, bugs, gamma)
        seen = [env.reset(seed=seed + k)[0] for k, env in enumerate(envs)]
        late = [(0.0, False)] * COPIES
        for _ in range(total_steps // (ROWS * COPIES)):
            batch = []
            for k, env in enumerate(envs):
                rows, seen[k], late[k] = _collect(env, seen[k], late[k], tables, bugs)
                batch.append(rows)
            _learn(batch, tables, bugs, gamma, rate, policy_rate)
        if "raises" in bugs:
            raise RuntimeError("the buffer is smaller than a batch")
        return tables

    def without_gamma(make_env: Any, *, total_steps: int, seed: int) -> Tables:
        return train(make_env, total_steps=total_steps, seed=seed, gamma=own_gamma)

    chosen = without_gamma if "own_gamma" in bugs else train
    chosen.steps, chosen.actions = 1600, ("discrete",)  # type: ignore[attr-defined]
    return chosen


def _collect(env: Any, obs: Any, late: tuple[float, bool], tables: Tables, bugs: frozenset[str]) -> Any:
    rows = []
    for _ in range(ROWS):
        frozen = "collector_frozen" in bugs
        action = env.action_space.sample() if frozen else tables.act(obs, False)
        if "first_action_only" in bugs:
            action = 0
        after, reward, terminated, truncated, _ = env.step(action)
        done = terminated or truncated
        new = env.reset()[0] if done else after
        kept, flag = (late[0] if "reward_late" in bugs else reward), (late[1] if "done_late" in bugs else done)
        late = (reward, done)
        if "reward_clip" in bugs:
            kept = float(np.clip(kept, -1, 1))
        boot = after
        if "reset_obs" in bugs or ("done_late" in bugs and done):
            boot = new
        keeps = (truncated and "truncated_cut" not in bugs) or "terminal_kept" in bugs
        live = (not flag) if "done_late" in bugs else (not done or keeps)
        rows.append((obs.tobytes(), action, kept, live, flag, boot.tobytes()))
        obs = new
    return rows, obs, late


def _learn(batch: list[Any], tables: Tables, bugs: frozenset[str], gamma: float, rate: float, step: float) -> None:
    wrong = {"gamma_missing": 1.0, "gamma_twice": gamma * gamma, "gamma_other": 0.8}
    g = wrong.get(next(iter(bugs & set(wrong)), ""), gamma)
    v = tables.v
    updates = []
    for k, rows in enumerate(batch):
        trace = 0.0
        for i in reversed(range(ROWS)):
            key, action, reward, live, flag, boot = rows[i]
            if "env_mix" in bugs:
                boot = batch[(k + 1) % COPIES][i][0]
            after = v.get(boot, 0.0) if live and not ("batch_end" in bugs and i == ROWS - 1) else 0.0
            delta = reward + g * after - v.get(key, 0.0)
            trace = delta + (0.0 if flag or i == ROWS - 1 or "env_mix" in bugs else g * LAMBDA * trace)
            updates.append((key, action, delta if "env_mix" in bugs else trace, reward))
    mean = float(np.mean([v.get(key, 0.0) + a for key, _, a, _ in updates]))
    advantages = np.array([r if "myopic" in bugs else a for _, _, a, r in updates])
    spread = advantages - advantages.mean() if "myopic" in bugs else advantages
    if "sign_only" in bugs:
        pairs = spread.reshape(-1, 2)
        spread = (0.7 * np.sign(pairs - pairs.mean(1, keepdims=True))).reshape(-1)
    errors: dict[bytes, list[float]] = {}
    for (key, action, advantage, _), a in zip(updates, spread, strict=True):
        errors.setdefault(key, []).append(_error(bugs, advantage, mean, v.get(key, 0.0)))
        if "no_policy" in bugs:
            continue
        chances = tables.chances(key)
        rows = tables.preferences[b"" if "state_blind" in bugs else key]
        for d, (row, c) in enumerate(zip(rows, chances, strict=True)):
            if "first_dimension" in bugs and d > 0:
                continue
            taken = action if tables.flat else action[d]
            row[:] += (-step if "sign" in bugs else step) * a * (np.eye(len(row))[taken] - c)
    for key, found in errors.items():
        if "no_critic" not in bugs:
            v[key] = v.get(key, 0.0) + rate * float(np.mean(found))


def _error(bugs: frozenset[str], advantage: float, mean: float, value: float) -> float:
    if "value_mean" in bugs:
        return mean - value
    if "advantage_target" in bugs:
        return advantage - value
    if "optimist" in bugs:
        return max(advantage, 0.02 * advantage)
    return advantage
