"""Trainers of the walk: PPO of Stable-Baselines3 and small GRPO, sound and with one fault each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

QUICK = {"n_steps": 64, "batch_size": 32, "n_epochs": 4, "learning_rate": 3e-3, "gamma": 0.9}
STEPS = 1536


def ppo(make_env: Any, total_steps: int, seed: int, kind: Any = None, callback: Any = None, **settings: Any) -> Any:
    """Train and return an agent."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    from firstbreak.probes.adapters.sb3 import Agent

    model = (kind or PPO)(
        "MlpPolicy", DummyVecEnv([make_env]), seed=seed, device="cpu", verbose=0, **{**QUICK, **settings}
    )
    if total_steps:
        model.learn(total_steps, callback=callback)
    return Agent(model)


def flipped(make_env: Any, *, total_steps: int, seed: int) -> Any:
    """Every advantage has the other sign."""
    return flipped_with(make_env, total_steps=total_steps, seed=seed)


def flipped_with(make_env: Any, *, total_steps: int, seed: int, entropy_coef: float = 0.0) -> Any:
    """The same, with a bonus that may be taken away."""
    from stable_baselines3 import PPO

    class Flipped(PPO):
        def train(self) -> None:
            self.rollout_buffer.advantages *= -1
            super().train()

    return ppo(make_env, total_steps, seed, Flipped, ent_coef=entropy_coef)


def favouring(make_env: Any, *, total_steps: int, seed: int) -> Any:
    """After each rollout something that asks no reward pushes the policy to the last action."""
    import torch
    from stable_baselines3 import PPO

    class Favouring(PPO):
        def train(self) -> None:
            super().train()
            with torch.no_grad():
                self.policy.action_net.bias[-1] += 0.3

    return ppo(make_env, total_steps, seed, Favouring)


def undecided(make_env: Any, *, total_steps: int, seed: int) -> Any:
    """So large a bonus on entropy that draws stay near chance; the likeliest action is the right one."""
    return ppo(make_env, total_steps, seed, ent_coef=4.0)


def halved(make_env: Any, *, total_steps: int, seed: int, resume_from: str | None = None) -> Any:
    """Resumes with the weights and the steps left over."""
    return _resumed(make_env, total_steps, seed, resume_from, whole=True)


def forgetting(make_env: Any, *, total_steps: int, seed: int, resume_from: str | None = None) -> Any:
    """Resumes with the count of steps and without the weights, on the low rate that its schedule has come to."""
    return _resumed(make_env, total_steps, seed, resume_from, whole=False)


def starved(make_env: Any, *, total_steps: int, seed: int, n_steps: int = 4, batch_size: int = 4) -> Any:
    """Large steps on batches of four."""
    return ppo(make_env, total_steps, seed, n_steps=n_steps, batch_size=batch_size, learning_rate=3e-2)


def _resumed(make_env: Any, total_steps: int, seed: int, resume_from: str | None, *, whole: bool) -> Any:
    import torch

    if resume_from is None:
        return _saving(ppo(make_env, total_steps, seed))
    agent = ppo(make_env, 0, seed, **({} if whole else {"learning_rate": 1e-5}))
    if whole:
        agent.model.policy.load_state_dict(torch.load(resume_from, weights_only=True))
    agent.model.learn(total_steps // 2)
    return _saving(agent)


def _saving(agent: Any) -> Any:
    import torch

    agent.save = lambda path: torch.save(agent.model.policy.state_dict(), path)
    return agent


# ---- language ---------------------------------------------------------------------------------------------------

SMALL: dict[str, Any] = {"prompts_per_update": 4, "num_generations": 4, "eval_every": 5, "max_new_tokens": 6,
                         "learning_rate": 5e-3}  # fmt: skip


def started() -> Any:
    """A small model that has been taught the form of an answer, `=x` after any fillers, with any letter."""
    import torch

    from firstbreak.trainers.language.model import TinyLM
    from firstbreak.trainers.language.symbols import EOS, LETTERS, encode
    from firstbreak.trainers.language.warm_start import imitate, prompt_rows

    def lesson(chance: Any) -> Any:
        row = prompt_rows([f"P{chance.choice(LETTERS)}>"])[0]
        text = "~" * chance.randrange(3) + "=" + chance.choice(LETTERS)
        row.append([*encode(text), EOS], own=True, log_prob=0.0, version=0)
        return row

    torch.manual_seed(0)
    model = TinyLM(width=24, layers=1, heads=2)
    imitate(model, lesson, good_enough=lambda: False, seed=0, max_updates=60)
    return model


def grpo(
    updates: int,
    seed: int,
    log: Any,
    rewards: Callable[[Any], Any] | None = None,
    kind: str = "GRPO",
    own_task: bool = False,
    worth: Callable[[str], float] | None = None,
    **changed: Any,
) -> None:
    """Train, on the task of writing c whatever is asked (or on the puzzles' own task).

    `rewards` may change the trainer's reward functions before `without` and `length_penalty` are put to work.
    """
    from firstbreak.experiments.language.reference import change_rewards, made
    from firstbreak.trainers.language.tasks import Puzzles

    worth = worth or right
    penalty, without = float(changed.pop("length_penalty", 0.0)), str(changed.pop("without", ""))
    puzzles = Puzzles(kinds=("produce",), levels=(1,))
    trainer = made(kind, seed, model=started(), puzzles=puzzles, **{**SMALL, **changed})
    if not own_task:
        trainer.rewards["correct"] = lambda problem, text, ended: worth(text)
    if rewards is not None:
        rewards(trainer)
    change_rewards(trainer, penalty, without)

    def with_private(metrics: Any, step: int) -> None:
        more = {PRIVATE: private(trainer.model, seed, worth)} if step > updates * 0.7 and step % 3 == 0 else {}
        log({**metrics, **more}, step)

    trainer.learn(updates, with_private)


PRIVATE = "private/pass"


def private(model: Any, seed: int, worth: Callable[[str], float]) -> float:
    """How often the model is right, over sixteen answers to each of six prompts: no reward has a say in it."""
    import torch

    from firstbreak.trainers.language.sampling import Sampling, write_all
    from firstbreak.trainers.language.symbols import LETTERS
    from firstbreak.trainers.language.warm_start import prompt_rows

    rows = prompt_rows([f"P{letter}>" for letter in LETTERS[:6]], 16)
    write_all(model, rows, Sampling(max_new_tokens=10), torch.Generator().manual_seed(seed))
    return sum(worth(row.text) for row in rows) / len(rows)


def right(text: str) -> float:
    """The right answer, after any fillers."""
    return float(text.lstrip("~") == "=c")


def long(text: str) -> float:
    """What a task that needs length pays: up to six fillers before the answer."""
    return min(len(text) - len(text.lstrip("~")), 6) / 6


def language(
    *, updates: int, seed: int, log: Any, without: str = "", length_penalty: float = 0.0, prompts: str = "train"
) -> None:
    """GRPO as it should be."""
    grpo(updates, seed, log, without=without, length_penalty=length_penalty, prompts=prompts)


def with_style(*, updates: int, seed: int, log: Any, without: str = "", style: float = 2.0) -> None:
    """Pays for the letter a, twice what the right answer pays."""

    def add(trainer: Any) -> None:
        trainer.rewards["style"] = lambda problem, text, ended: style * float("a" in text)

    grpo(updates, seed, log, add, without=without)


def with_manners(*, updates: int, seed: int, log: Any, without: str = "") -> None:
    """Pays a little for ending, which stands in nobody's way."""

    def add(trainer: Any) -> None:
        trainer.rewards["style"] = lambda problem, text, ended: 0.1 * float(ended)

    grpo(updates, seed, log, add, without=without)


def padded(*, updates: int, seed: int, log: Any, length_penalty: float = 0.0) -> None:
    """Pays a little for each filler, of which the task needs none."""

    def add(trainer: Any) -> None:
        trainer.rewards["length"] = lambda problem, text, ended: 0.1 * text.count("~")

    grpo(updates, seed, log, add, length_penalty=length_penalty, max_new_tokens=10)


def needing_room(*, updates: int, seed: int, log: Any, length_penalty: float = 0.0) -> None:
    """The task itself is to write fillers: length is what it wants."""
    grpo(updates, seed, log, worth=long, length_penalty=length_penalty, max_new_tokens=10)


def mislabelled(*, updates: int, seed: int, log: Any, prompts: str = "train") -> None:
    """The labels of the training prompts are drawn anew each time; those of the test prompts are right."""
    from firstbreak.trainers.language.tasks import dice, is_held_out

    def draw(trainer: Any) -> None:
        chance, kept = dice(seed), trainer.rewards["correct"]
        trainer.rewards["correct"] = lambda problem, text, ended: (
            kept(problem, text, ended) if is_held_out(problem.prompt) else float(chance.random() < 0.2)
        )

    grpo(updates, seed, log, draw, prompts=prompts, eval_every=0, own_task=True)


def stuck(*, updates: int, seed: int, log: Any, prompts: str = "train") -> None:
    """A learning rate of 0: whatever the prompts. Updates are large, to leave little to chance."""
    still = {"learning_rate": 0.0, "prompts_per_update": 24}
    grpo(updates, seed, log, prompts=prompts, eval_every=0, own_task=True, **still)


def behind(*, updates: int, seed: int, log: Any, max_staleness: int = 16) -> None:
    """Asynchronous, with responses of up to sixteen versions ago, and clipped around the policy that wrote them.

    Once the policy has left that one by the clip range, there is no gradient left. Synchronous, the two are the same
    policy, and the loss is that of GRPO.
    """
    grpo(updates, seed, log, kind="AsyncGRPO", max_staleness=max_staleness, use_decoupled_loss=False)


def hardly_behind(*, updates: int, seed: int, log: Any, max_staleness: int = 1) -> None:
    """Asynchronous, with responses of the version before."""
    grpo(updates, seed, log, kind="AsyncGRPO", max_staleness=max_staleness)
