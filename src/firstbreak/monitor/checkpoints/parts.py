"""From the live parts of a trainer to plain data and back."""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, cast

import numpy as np

from .errors import CheckpointError
from .rng import generator_state, is_generator, set_generator_state


def capture(**parts: Any) -> dict[str, Any]:
    """Return a copy of `parts` as plain data, on the devices where they are: training on does not change it.

    A part is anything with `state_dict()`, a random generator, an array, a tensor, plain data, or a nest of these.
    """
    return {name: copy.deepcopy(states(part)) for name, part in parts.items()}


def states(part: Any) -> Any:
    """Return `part` with everything that has `state_dict()`, and every generator, replaced by its state; not copied."""
    if is_generator(part):
        return generator_state(part)
    found = getattr(part, "state_dict", None)
    if callable(found):
        return found()
    if isinstance(part, Mapping):
        return _keep_metadata(part, {k: states(v) for k, v in cast("Mapping[Any, Any]", part).items()})
    if type(part) in (list, tuple):
        return type(part)(states(item) for item in part)
    torch = cast(Any, sys.modules.get("torch"))
    if torch is not None and isinstance(part, torch.Tensor):
        return part.detach()
    return part


def restore(state: Mapping[str, Any], **parts: Any) -> tuple[str, ...]:
    """Put `state` back into `parts`; return the names in `state` that were not asked for.

    Objects get `load_state_dict`, generators their state; arrays, tensors, dictionaries and lists are changed in place.
    A number or a text cannot be: take it from `state` yourself.
    """
    for name, part in parts.items():
        if name not in state:
            raise CheckpointError(
                f"The checkpoint holds nothing named {name!r}.", f"It holds: {', '.join(state) or 'nothing'}."
            )
        _put_back(part, state[name], name)
    return tuple(name for name in state if name not in parts)


def _put_back(part: Any, state: Any, name: str) -> None:
    load = getattr(part, "load_state_dict", None)
    if is_generator(part):
        set_generator_state(part, state)
    elif callable(load):
        load(state)
    elif isinstance(part, np.ndarray):
        _same_shape(part, state, name)
        part[...] = state
    elif _is_tensor(part):
        _same_shape(part, state, name)
        part.detach().copy_(state)
    elif isinstance(part, MutableMapping):
        _put_back_mapping(cast("MutableMapping[Any, Any]", part), state, name)
    elif isinstance(part, list):
        part[:] = _merged(cast("list[Any]", part), state, name)
    elif isinstance(part, tuple):
        _merged(list(cast("tuple[Any, ...]", part)), state, name)
    else:
        raise CheckpointError(
            f"{name} is a {type(part).__name__}, which cannot be changed in place.",
            f"Take it from the state: {name} = state[{name!r}].",
        )


def _put_back_mapping(part: MutableMapping[Any, Any], state: Mapping[Any, Any], name: str) -> None:
    for key in [k for k in part if k not in state]:
        del part[key]
    for key, value in state.items():
        if key in part and _in_place(part[key]):
            _put_back(part[key], value, f"{name}/{key}")
        else:
            part[key] = value


def _merged(items: list[Any], state: Any, name: str) -> list[Any]:
    """Return the values of a list after putting back: live objects changed in place, plain values taken over."""
    if len(items) != len(state):
        if any(_in_place(item) for item in items):
            raise CheckpointError(f"{name} has {len(items)} entries, the checkpoint {len(state)}.")
        return list(state)
    for i, (item, value) in enumerate(zip(items, state, strict=True)):
        if _in_place(item):
            _put_back(item, value, f"{name}/{i}")
    return [item if _in_place(item) else value for item, value in zip(items, state, strict=True)]


def _in_place(part: Any) -> bool:
    if isinstance(part, np.ndarray | MutableMapping | list | tuple) or _is_tensor(part) or is_generator(part):
        return True
    return callable(getattr(part, "load_state_dict", None))


def _is_tensor(part: Any) -> bool:
    torch = cast(Any, sys.modules.get("torch"))
    return torch is not None and isinstance(part, torch.Tensor)


def _same_shape(part: Any, state: Any, name: str) -> None:
    here, saved = tuple(part.shape), tuple(getattr(state, "shape", ()))
    if here != saved:
        raise CheckpointError(f"{name} has shape {list(here)}, the checkpoint {list(saved)}.")


def _keep_metadata(source: Any, made: dict[Any, Any]) -> Any:
    meta = getattr(source, "_metadata", None)
    if meta is None:
        return made
    from collections import OrderedDict

    ordered = OrderedDict(made)
    cast(Any, ordered)._metadata = meta
    return ordered
