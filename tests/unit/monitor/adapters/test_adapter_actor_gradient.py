"""Whether the actor is led by the critic, through each library's own training, against the gradient itself."""

from __future__ import annotations

from copy import deepcopy

import gymnasium
import pytest
import torch
from torch import nn

from firstbreak.monitor.adapters.parts.weights.actor_gradient import METRIC, ActorGradient
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.trainers.sac import SAC, SACConfig
from tests.unit.monitor.adapters import sb3_worlds
from tests.unit.monitor.adapters.answering import Answering

OFF = {"hidden_sizes": (8,), "batch_size": 8, "learning_starts": 10, "log_every_steps": 10}


class Critic(nn.Module):
    """Q of an observation and an action."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 1)

    def forward(self, obs, action):
        return self.head(torch.cat([obs, action], dim=1))


def seen(monitor):
    return [row[METRIC] for row in monitor.merged().values() if METRIC in row]


def through(critic, obs, action):
    return critic(obs, action)


def detached(critic, obs, action):
    return critic(obs, action.detach())


def let_go_within(critic, obs, action):
    """It is asked about the action itself, and a wrapper of its own lets that go."""
    usual = critic.forward
    critic.forward = lambda obs, action: usual(obs, action.detach())
    answer = critic(obs, action)
    critic.forward = usual
    return answer


def by_its_head(critic, obs, action):
    return critic.head(torch.cat([obs, action], dim=1))


def without_gradients(critic, obs, action):
    with torch.no_grad():
        return critic(obs, action)


def gradient(actor, critic, obs, ask):
    """The actor's gradient of one loss: minus Q, and something that is not the critic's."""
    actor.zero_grad()
    action = actor(obs)
    (0.1 * action.pow(2).mean() - ask(critic, obs, action).mean()).backward()
    return actor.weight.grad.clone()


@pytest.mark.parametrize(
    ("ask", "led"),
    [(through, 1.0), (detached, 0.0), (let_go_within, 0.0), (by_its_head, 1.0), (without_gradients, None)],
)
def test_it_is_whether_the_gradient_depends_on_the_critic(ask, led):
    torch.manual_seed(0)
    actor, critic, obs = nn.Linear(2, 2), Critic(), torch.randn(16, 2)
    other = deepcopy(critic)
    nn.init.normal_(other.head.weight)
    follows = not torch.allclose(gradient(actor, critic, obs, ask), gradient(actor, other, obs, ask))
    assert follows == bool(led)  # the slow twin: with another critic the gradient is another one

    optimiser = torch.optim.SGD(actor.parameters(), lr=0.1)
    watch = ActorGradient([critic], optimiser, [critic.head])
    for _ in range(3):
        gradient(actor, critic, obs, ask)
        optimiser.step()
    assert watch.take().get(METRIC) == led  # a critic that is never asked with gradients may be another one by now
    assert watch.take() == {}
    watch.remove()
    gradient(actor, critic, obs, through)
    optimiser.step()
    assert watch.take() == {}


def test_an_observation_with_a_gradient_of_its_own_is_no_lead():
    actor, critic, encoder = nn.Linear(2, 2), Critic(), nn.Linear(2, 2)
    optimiser = torch.optim.SGD(actor.parameters(), lr=0.1)
    watch = ActorGradient([critic], optimiser, [critic.head])
    obs = encoder(torch.randn(4, 2))
    critic(obs, torch.randn(4, 2)).mean().backward()
    actor(obs.detach()).mean().backward()
    optimiser.step()
    assert watch.take() == {METRIC: 0.0}


@pytest.mark.parametrize("make", [sb3_worlds.sac, sb3_worlds.td3])
def test_stable_baselines3(make):
    monitor = Answering()
    made = make()
    made.learn(200, callback=MonitorCallback(monitor, every_steps=20))
    assert len(seen(monitor)) >= 3
    assert set(seen(monitor)) == {1.0}
    assert not made.critic._forward_hooks
    assert not made.critic._forward_pre_hooks


def test_stable_baselines3_with_a_detached_action():
    monitor, model = Answering(), sb3_worlds.sac()
    usual = model.actor.action_log_prob

    def broken(obs):
        action, log_prob = usual(obs)
        return action.detach(), log_prob

    model.actor.action_log_prob = broken
    model.learn(200, callback=MonitorCallback(monitor, every_steps=20))
    assert set(seen(monitor)) == {0.0}


def test_dqn_has_no_actor():
    monitor = Answering()
    sb3_worlds.dqn().learn(200, callback=MonitorCallback(monitor, every_steps=20))
    assert seen(monitor) == []


@pytest.mark.parametrize("broken", [False, True])
def test_the_reference_trainer(broken):
    monitor = Answering()
    trainer = SAC(lambda: gymnasium.make("Pendulum-v1"), seed=0, config=SACConfig(**OFF))
    usual = trainer.actor_loss
    if broken:
        trainer.actor_loss = lambda sample, draw: usual(sample, (draw[0].detach(), draw[1]))
    trainer.learn(64, log_to(monitor, trainer))
    assert len(seen(monitor)) >= 2
    assert set(seen(monitor)) == {0.0 if broken else 1.0}
