"""What an experiment that cannot be made, or did not end, says: what happened, where, and what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firstbreak.errors import ConfigError, InputError
from firstbreak.experiments.api import Stopped, run_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.running.here import Here
from firstbreak.experiments.running.where import where
from firstbreak.experiments.subject import Subject


def test_a_failed_trial_names_the_line_of_the_users_own_code(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("def expert(obs):\n    raise RuntimeError('no model loaded')\n")
    subject = Subject(env="CartPole-v1", given={"expert": f"{tmp_path / 'parts.py'}:expert"})
    found = run_experiment("oracle-against-random", subject, executor=Here())
    assert "no model loaded (parts.py, line 2)" in found.words
    assert all("(parts.py, line 2)" in trouble.message for trouble in found.troubles)


def test_what_a_library_raises_names_the_line_that_called_it() -> None:
    with pytest.raises(ValueError, match="Expecting") as caught:
        json.loads("{")
    assert where(caught.value).startswith(f" ({Path(__file__).name}, line ")


def test_without_a_line_of_the_users_none_is_named() -> None:
    assert where(RuntimeError("never raised")) == ""


@pytest.mark.parametrize("name", ["zero-learning-rate", "untrained-start"])
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    raise KeyError('lr')", r"raises KeyError: 'lr' \(train.py, line 2\)"),
        (
            "    env = make_env()\n    env.reset(seed=seed)\n    while not env.step(0)[2]: pass\n"
            "    return type('A', (), {'act': lambda s, o, d=False: 0})()",
            "takes [0-9]+",
        ),
    ],
)
def test_a_trainer_without_an_untrained_agent_is_told_what_to_do(
    tmp_path: Path, name: str, body: str, said: str
) -> None:
    (tmp_path / "train.py").write_text(f"def train(make_env, *, total_steps, seed):\n{body}\n")
    given = {} if name == "zero-learning-rate" else {"agent": f"{tmp_path / 'agent.py'}:Agent"}
    (tmp_path / "agent.py").write_text("class Agent:\n    def act(self, obs, deterministic=False): return 0\n")
    subject = Subject(f"{tmp_path / 'train.py'}:train", "CartPole-v1", 64, given=given)
    with pytest.raises(InputError, match=said) as caught:
        run_experiment(name, subject, executor=Here())
    assert "total_steps is 0" in caught.value.hint


def test_no_copies_of_an_environment_are_refused_in_words() -> None:
    subject = Subject("sb3:PPO", "CartPole-v1", 64, {"n_envs": 0})
    with pytest.raises(InputError, match="n_envs=0") as caught:
        run_experiment("zero-learning-rate", subject, executor=Here())
    assert "1 or more" in caught.value.hint


def test_a_seed_below_zero_is_refused_before_anything_runs() -> None:
    with pytest.raises(ConfigError, match="a seed is 0 or more"):
        Protocol(first_seed=-1)
    assert Protocol(first_seed=0).first_seed == 0


def test_after_ctrl_c_it_says_that_it_starts_anew(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("def expert(obs):\n    return 0\n")
    subject = Subject(env="CartPole-v1", given={"expert": f"{tmp_path / 'parts.py'}:expert"})

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Stopped, match="starts anew"):
        run_experiment("oracle-against-random", subject, executor=Here(), folder=tmp_path / "kept", tell=stop)


def test_a_spent_budget_says_that_it_starts_anew(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("def expert(obs):\n    return 0\n")
    subject = Subject(env="CartPole-v1", given={"expert": f"{tmp_path / 'parts.py'}:expert"})
    found = run_experiment("oracle-against-random", subject, executor=Here(), seconds=-1.0)
    assert found.why.value == "out_of_time"
    assert "larger --budget" in found.words
    assert "starts anew" in found.words
