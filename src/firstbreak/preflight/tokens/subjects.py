"""From what the user names to `TokenPieces`."""

from __future__ import annotations

import inspect
from typing import Any

from ...errors import InputError
from ...target import load_target
from .pieces import TokenPieces

HINT = (
    "Give a function that returns firstbreak.preflight.tokens.pieces.TokenPieces, a GRPOTrainer, RLOOTrainer or "
    "PPOTrainer of TRL, or a trainer of firstbreak.trainers.language."
)


def token_pieces(target: Any, seed: int = 0) -> TokenPieces:
    """Return the pieces of `target`: a text (`module:name`, `trl:PPO`), a function, a trainer or `TokenPieces`.

    Raises:
        InputError: it is none of these.
    """
    if isinstance(target, str) and target.startswith("trl:"):
        from ...probes.tokens.adapters.trl import tiny

        return token_pieces(tiny(target.removeprefix("trl:"), seed), seed)
    if isinstance(target, str):
        return token_pieces(load_target(target), seed)
    if isinstance(target, TokenPieces):
        return target
    known = _of_trainer(target)
    if known is not None:
        return known
    if callable(target):
        made = _called(target, seed)
        if not callable(made) or _of_trainer(made) is not None:
            return token_pieces(made, seed)
        raise InputError(f"{getattr(target, '__name__', 'the function')} returned another function.", HINT)
    raise InputError(f"{type(target).__name__} is not a trainer of language models that is known.", HINT)


def _of_trainer(target: Any) -> TokenPieces | None:
    from .adapters import reference, trl, trl_ppo, trl_rloo

    if trl_ppo.is_ppo(target):
        return trl_ppo.pieces_of(target)
    if trl.is_grpo(target):
        return trl.pieces_of(target)
    if trl_rloo.is_rloo(target):
        return trl_rloo.pieces_of(target)
    if reference.is_reference(target):
        return reference.pieces_of(target)
    own = getattr(target, "token_pieces", None)
    if own is not None and not isinstance(target, type):
        found = own()
        if not isinstance(found, TokenPieces):
            raise InputError(f"{type(target).__name__}.token_pieces() returned {type(found).__name__}.", HINT)
        return found
    return None


def _called(function: Any, seed: int) -> Any:
    """Call the user's function, with the seed where it takes one."""
    parameters = inspect.signature(function).parameters
    found = function(seed=seed) if "seed" in parameters else function()
    if found is None or found is function:
        raise InputError(f"{getattr(function, '__name__', function)} returned nothing to look at.", HINT)
    return found
