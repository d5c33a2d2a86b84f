"""What the mutants of the reference trainers share: planting a bug, and turning a mutant into a `train` function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .mutation import Edit, mutated

Change = Callable[[Any], None]


def edited(original: type, **methods: Edit | list[Edit]) -> type:
    """Return a subclass of `original` in which one or several edits are made to each method named."""
    edits = {name: found if isinstance(found, list) else [found] for name, found in methods.items()}
    return mutated(original, f"Mutant{original.__name__}", edits)


def built_otherwise(original: type, change: Change) -> type:
    """Return a subclass of `original` whose finished instance is put through `change`."""

    def __init__(self: Any, *args: Any, **settings: Any) -> None:  # noqa: N807
        original.__init__(self, *args, **settings)
        change(self)

    return type(f"Mutant{original.__name__}", (original,), {"__init__": __init__})


def trainer_of(trainer: Any, default_config: Any) -> Callable[..., Any]:
    """Return `trainer` as a function with the signature of the reference `train` functions."""

    def train(
        make_env: Any, *, total_steps: int, seed: int, gamma: float = 0.99, config: Any = None, log: Any = None
    ) -> Any:
        made = trainer(make_env, seed=seed, config=replace(config or default_config(), gamma=gamma))
        made.learn(total_steps, log)
        return made

    return train


def train_function(name: str, module: dict[str, Any], default_config: Any) -> Callable[..., Any]:
    """Return what the module attribute `train_<id>` stands for.

    Raises:
        AttributeError: there is no such mutant.
    """
    found = module.get(name.removeprefix("train_"))
    if not name.startswith("train_") or not isinstance(found, type):
        raise AttributeError(f"{module['__name__']} has no attribute {name!r}")
    return trainer_of(found, default_config)


def small_function(name: str, module: dict[str, Any], config: Any, steps: int) -> Callable[..., Any]:
    """Return what `small_<id>` stands for: the mutant with the settings that the ladder's tiny tasks ask for.

    Raises:
        AttributeError: there is no such mutant.
    """
    found = module.get(name.removeprefix("small_"))
    if not isinstance(found, type):
        raise AttributeError(f"{module['__name__']} has no attribute {name!r}")

    def train(make_env: Any, *, total_steps: int, seed: int, gamma: float = 0.99) -> Any:
        made = found(make_env, seed=seed, config=replace(config, gamma=gamma))
        made.learn(total_steps)
        return made

    train.steps = steps  # type: ignore[attr-defined]
    return train
