import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
from stable_baselines3.common.monitor import Monitor as EpisodeStatistics

from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering


class Witness(BaseCallback):
    """Keeps, by plain means, what the rows should say."""

    def __init__(self):
        super().__init__()
        self.rollouts, self.logged, self.log_probs = [], [], []

    def _on_step(self):
        return True

    def _on_rollout_end(self):
        buffer = self.model.rollout_buffer
        names = ("advantages", "values", "returns", "rewards", "actions", "log_probs", "observations")
        self.rollouts.append({name: getattr(buffer, name).copy() for name in names})

    def _on_rollout_start(self):
        self._over()

    def _on_training_end(self):
        self._over()

    def _over(self):
        if len(self.logged) == len(self.rollouts):
            return
        self.logged.append(dict(self.model.logger.name_to_value))
        last = self.rollouts[-1]
        obs = torch.as_tensor(last["observations"].reshape(-1, *last["observations"].shape[2:]))
        actions = torch.as_tensor(last["actions"].reshape(-1, *last["actions"].shape[2:]))
        if hasattr(self.model.action_space, "n"):
            actions = actions.long().flatten()
        with torch.no_grad():
            _, log_prob, _ = self.model.policy.evaluate_actions(obs, actions)
        self.log_probs.append(log_prob.double().numpy())


@pytest.fixture(params=["discrete", "continuous"])
def watched(request, monkeypatch):
    norms, clip = [], torch.nn.utils.clip_grad_norm_
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *a, **k: norms.append(clip(*a, **k)) or norms[-1])
    model = worlds.ppo(worlds.Line(discrete=request.param == "discrete"), learning_rate=0.01, max_grad_norm=0.01)
    monitor, witness = Answering(), Witness()
    model.learn(96, callback=[witness, MonitorCallback(monitor, every_steps=1)])
    return model, monitor, witness, [float(n) for n in norms]


def test_one_step_a_row_and_no_delay(watched):
    _, monitor, witness, _ = watched
    rows = monitor.merged()
    assert list(rows) == [32, 64, 96]
    for row, logged in zip(rows.values(), witness.logged, strict=True):  # the last update's figures are there too
        assert row["critic/loss"] == pytest.approx(float(logged["train/value_loss"]))
        assert row["policy/loss"] == pytest.approx(float(logged["train/policy_gradient_loss"]))
        assert row["policy/clip_fraction"] == pytest.approx(float(logged["train/clip_fraction"]))
        assert row["critic/explained_variance"] == pytest.approx(float(logged["train/explained_variance"]), rel=1e-4)
        assert row["optim/n_updates"] == logged["train/n_updates"]


def test_advantages_returns_and_rewards(watched):
    _, monitor, witness, _ = watched
    for row, rollout in zip(monitor.merged().values(), witness.rollouts, strict=True):
        a, g = rollout["advantages"].astype(float), rollout["returns"].astype(float)
        assert row["advantage/mean"] == pytest.approx(a.mean(), abs=1e-5)
        assert row["advantage/std"] == pytest.approx(a.std(), rel=1e-4)
        assert row["advantage/abs_max"] == pytest.approx(np.abs(a).max(), rel=1e-5)
        assert row["return/mean"] == pytest.approx(g.mean(), rel=1e-5)
        assert row["return/std"] == pytest.approx(g.std(), rel=1e-4)
        assert row["critic/target_max"] == pytest.approx(g.max(), rel=1e-5)
        assert row["reward/step_mean"] == pytest.approx(rollout["rewards"].mean(), rel=1e-5)


def test_the_policy_after_the_update(watched):
    _, monitor, witness, _ = watched
    for row, rollout, new in zip(monitor.merged().values(), witness.rollouts, witness.log_probs, strict=True):
        old = rollout["log_probs"].reshape(-1).astype(float)
        ratio = np.exp(new - old)
        assert row["policy/ratio_first_minibatch"] == pytest.approx(1.0, abs=1e-5)
        assert row["policy/kl_old"] == pytest.approx(np.mean(ratio - 1 - np.log(ratio)), rel=1e-3, abs=1e-6)
        assert row["policy/kl_k1"] == pytest.approx(np.mean(old - new), rel=1e-3, abs=1e-6)
        assert row["policy/ratio_max"] == pytest.approx(ratio.max(), rel=1e-4)
        assert row["policy/ess"] == pytest.approx(ratio.mean() ** 2 / (ratio**2).mean(), rel=1e-4)
        assert row["policy/kl_old"] > 1e-6


def test_advantages_are_what_the_buffer_holds_rewards_and_values_for_and_better_actions_become_likelier(watched):
    _, monitor, witness, _ = watched
    rows = [row for row in monitor.merged().values() if "policy/advantage_follow" in row]
    for row, rollout, log_prob in zip(rows, witness.rollouts, witness.log_probs, strict=True):
        assert row["advantage/gae_residual"] < 1e-5
        change = log_prob - rollout["log_probs"].flatten()
        gains = rollout["advantages"].flatten().astype(float)
        gains = gains - gains.mean()  # PPO normalises, which only adds a factor
        wanted = gains @ change / np.sqrt((gains @ gains) * (change @ change))
        assert row["policy/advantage_follow"] == pytest.approx(wanted, abs=1e-4)
    assert rows[0]["policy/advantage_follow"] > 0


def test_advantages_in_the_wrong_order_show_and_those_of_an_estimator_of_ones_own_are_not_judged():
    model, monitor = worlds.ppo(), Answering()
    usual = model.rollout_buffer.compute_returns_and_advantage

    def backwards(*args, **named):
        usual(*args, **named)
        model.rollout_buffer.advantages = model.rollout_buffer.advantages[::-1].copy()

    model.rollout_buffer.compute_returns_and_advantage = backwards
    model.learn(64, callback=MonitorCallback(monitor, every_steps=1))
    assert monitor.latest["advantage/gae_residual"] > 0.1

    class Own(RolloutBuffer):
        def compute_returns_and_advantage(self, last_values, dones):
            self.advantages, self.returns = 0 * self.rewards + 1, self.values + 1

    model, monitor = worlds.ppo(rollout_buffer_class=Own), Answering()
    model.learn(64, callback=MonitorCallback(monitor, every_steps=1))
    assert "advantage/gae_residual" not in monitor.latest
    assert "advantage/mean" in monitor.latest


def test_gradient_norm_is_that_before_clipping(watched):
    _, monitor, _, norms = watched
    for place, row in enumerate(monitor.merged().values()):
        assert row["optim/grad_norm"] == pytest.approx(np.mean(norms[6 * place : 6 * place + 6]), rel=1e-5)
        assert row["optim/grad_norm"] > 0.01  # where it is clipped


def test_saturation_and_spread_of_continuous_actions(watched):
    model, monitor, witness, _ = watched
    for row, rollout in zip(monitor.merged().values(), witness.rollouts, strict=True):
        if hasattr(model.action_space, "n"):
            assert "policy/saturation_frac" not in row
            continue
        beyond = np.mean(np.abs(rollout["actions"]) >= 2.0 - 0.04)
        assert row["policy/saturation_frac"] == pytest.approx(beyond)
    if not hasattr(model.action_space, "n"):
        assert row["policy/action_std"] == pytest.approx(float(model.policy.log_std.detach().exp().mean()))


def test_settings_are_those_of_the_model():
    monitor = Answering()
    worlds.ppo(gamma=0.9, clip_range=0.3, target_kl=0.5).learn(32, callback=MonitorCallback(monitor))
    expected = {"algorithm": "PPO", "gamma": 0.9, "clip_range": 0.3, "target_kl": 0.5, "lr": 3e-4, "n_steps": 32,
                "batch_size": 16, "n_epochs": 3, "action_space": "discrete", "n_actions": 3, "ent_coef": 0.0,
                "total_steps": 32}  # fmt: skip
    assert expected.items() <= monitor.told.items()
    assert "env_id" not in monitor.told  # a task of one's own


def test_the_task_is_named_as_gymnasium_registered_it():
    monitor = Answering()
    worlds.ppo(gymnasium.make("CartPole-v1")).learn(32, callback=MonitorCallback(monitor))
    assert monitor.told["env_id"] == "CartPole-v1"
    assert "env_wrappers" not in monitor.told


def of_updates(monitor):
    """The trainer's own rows; between them lie those of what is told at once."""
    return {at: row for at, row in monitor.merged().items() if "optim/n_updates" in row}


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (worlds.dqn, {"critic/q_mean", "critic/target_mean", "dqn/epsilon", "optim/grad_norm", "replay/ratio"}),
        (worlds.td3, {"critic/twin_gap", "optim/actor_grad_norm", "optim/critic_grad_norm", "policy/saturation_frac"}),
        (worlds.sac, {"critic/twin_gap", "sac/alpha", "sac/alpha_loss", "policy/entropy", "optim/alpha_grad_norm"}),
    ],
)
def test_off_policy_rows(make, wanted):
    monitor, model = Answering(), make()
    model.learn(90, callback=MonitorCallback(monitor, every_steps=20))
    rows = of_updates(monitor)
    steps = list(rows)
    assert min(np.diff(steps[:-1])) >= 20
    last = rows[steps[-1]]
    assert wanted <= last.keys()
    assert last["optim/n_updates"] == model._n_updates
    assert last["replay/size"] == model.replay_buffer.size()
    assert last["replay/ratio"] == pytest.approx(model._n_updates / 70, rel=0.1)
    assert all(np.isfinite(v) for v in last.values())


def test_losses_of_sac_are_means_since_the_last_row_and_q_is_that_of_the_networks():
    class Losses(BaseCallback):
        seen, before = (), 0

        def _on_step(self):
            return True

        def _on_rollout_start(self):
            if self.model._n_updates > self.before:
                self.before = self.model._n_updates
                self.seen = (*self.seen, float(self.model.logger.name_to_value["train/critic_loss"]))

    monitor, model, losses = Answering(), worlds.sac(), Losses()
    model.learn(70, callback=[losses, MonitorCallback(monitor, every_steps=20)])
    (first, one), (second, two) = list(of_updates(monitor).items())[:2]
    done = [int(row["optim/n_updates"]) for row in (one, two)]
    assert second > first
    assert two["critic/loss"] == pytest.approx(np.mean(losses.seen[done[0] : done[1]]), rel=1e-5)


def test_q_of_dqn_lies_within_what_the_network_says():
    monitor, model = Answering(), worlds.dqn()
    model.learn(60, callback=MonitorCallback(monitor, every_steps=20))
    last = list(monitor.merged().values())[-1]
    with torch.no_grad():
        q = model.q_net(torch.as_tensor(model.replay_buffer.observations[: model.replay_buffer.pos, 0]))
    assert float(q.min()) - 0.1 <= last["critic/q_min"] <= last["critic/q_mean"] <= last["critic/q_max"]
    assert last["critic/q_max"] <= float(q.max()) + 0.1


def test_evaluations_and_keys_of_the_user_are_read_when_they_happen():
    class Own(BaseCallback):
        def _on_step(self):
            self.logger.record("my/metric", 7.0)
            return True

    monitor = Answering()
    evaluation = EvalCallback(EpisodeStatistics(worlds.Line()), n_eval_episodes=2, eval_freq=20, verbose=0)
    worlds.ppo().learn(64, callback=[Own(), evaluation, MonitorCallback(monitor, every_steps=1)])
    found = [(step, row) for step, row in monitor.given if "reward/eval_return_mean" in row]
    assert [step for step, _ in found] == [20, 40, 60]
    assert found[-1][1]["reward/eval_return_mean"] == pytest.approx(evaluation.last_mean_reward)
    assert any(row.get("my/metric") == 7.0 for _, row in monitor.given)


def test_a_real_monitor_knows_algorithm_and_clock():
    monitor = Monitor(None)
    worlds.ppo().learn(96, callback=MonitorCallback(monitor, every_steps=1))
    log = monitor.run_log()
    assert (log.algorithm, log.clock) == ("PPO", "env_steps")
    assert {"policy/kl_old", "advantage/std", "optim/grad_norm"} <= {s.metric for s in log.series}
    assert monitor.rows == 3
    assert monitor.faults == []
