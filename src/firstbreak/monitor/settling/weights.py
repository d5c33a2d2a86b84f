"""A fingerprint of weights, tensor by tensor: cheap enough for every sync, and it says which tensors differ.

`firstbreak.monitor.record.hashing.parameter_hash` hashes every bit and gives one number; this looks at a sample of
large tensors and keeps a few values of each, so that a cast is told from a missed sync. PyTorch is never imported here;
a tensor that is handed in brings it along. Arrays and tensors of equal content and type give equal fingerprints.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError

SAMPLE_ITEMS = 65_536
"""Items of a tensor that are looked at, evenly spread. An update moves all of a tensor, a lost shard an eighth or
more of it; a single flipped item of a larger tensor is missed. Engineering default."""
KEPT_VALUES = 16
"""Values of each tensor that are kept, to measure how far two sides are apart. Engineering default."""
HASH_BITS = 48
"""As in `parameter_hash`: a float64 holds the number exactly."""
WRAPPERS = ("module.", "_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.")
"""What wrappers (data parallelism, compilation) put into the names of parameters; taken out."""

_MIX = (-7046029254386353131, -4658895280553007687, -7723592293110705685)
"""Odd constants of splitmix64 as signed integers (Steele et al. 2014, "Fast splittable pseudorandom number
generators")."""


@dataclass(frozen=True)
class TensorPrint:
    """What is kept of one tensor."""

    shape: tuple[int, ...]
    type: str
    """Of the tensor itself, before any cast: `bfloat16`, `float32` ..."""
    hashed_as: str
    """The type that was hashed: after the cast, if any."""
    digest: int
    """Equal where the items looked at are equal."""
    values: tuple[float, ...]
    """A few of its items, at places that depend on its size alone."""
    finite: bool = True
    """Whether all items looked at are finite."""


@dataclass(frozen=True)
class Fingerprint:
    """What `fingerprint` returns; plain data, so that it travels between processes."""

    tensors: Mapping[str, TensorPrint]
    number: float
    """Whole number below 2^48, to be logged as `net/weight_hash`."""

    @property
    def types(self) -> dict[str, str]:
        """Type of each tensor: what the other side has to be cast to."""
        return {name: one.type for name, one in self.tensors.items()}

    @property
    def finite(self) -> bool:
        """Whether everything looked at is finite."""
        return all(one.finite for one in self.tensors.values())

    @property
    def text(self) -> str:
        """The number as 12 hex digits."""
        return f"{int(self.number):012x}"


def fingerprint(
    parameters: Any, *, as_type: str | Mapping[str, str] = "", rename: Callable[[str], str] | None = None
) -> Fingerprint:
    """Return the fingerprint of a module's parameters, of a mapping of name to tensor, or of (name, tensor) pairs.

    Order does not matter, types do. One transfer for each device. -0 and 0 count as equal.

    Args:
        parameters: A module (parameters and buffers), a mapping (`state_dict()`), or pairs (`named_parameters()`).
        as_type: Cast floating tensors to this type first, or each to its own by name: on the learner's side to what
            the sampler holds (`bfloat16`, or `Fingerprint.types` of the sampler).
        rename: Turns a name into the other side's; wrappers' prefixes are taken out already.

    Raises:
        InputError: no tensor in it, two tensors of one name, or no such type.
    """
    named = _named(parameters, rename)
    if not named:
        raise InputError("There are no weights in it.", "Give a module, its state_dict(), or (name, tensor) pairs.")
    types = {name: as_type if isinstance(as_type, str) else as_type.get(name, "") for name in named}
    looked = [_look(_local(tensor), types[name]) for name, tensor in named.items()]
    found: dict[str, TensorPrint] = {}
    for (name, tensor), words in zip(named.items(), _fetched(looked), strict=True):
        numbers = words[1:].view(np.float64)
        own = _type(tensor)
        hashed_as = types[name] if types[name] and own.startswith(("float", "bfloat")) else own
        kept = tuple(numbers[1:].tolist())
        found[name] = TensorPrint(tuple(map(int, tensor.shape)), own, hashed_as, int(words[0]), kept, bool(numbers[0]))
    return Fingerprint(found, _number(found))


def _number(found: Mapping[str, TensorPrint]) -> float:
    digest = hashlib.blake2b(digest_size=8)
    for name in sorted(found):
        one = found[name]
        digest.update(f"{name} {one.shape} {one.hashed_as} {one.digest};".encode("utf-8", "backslashreplace"))
    return float(int.from_bytes(digest.digest(), "little") & ((1 << HASH_BITS) - 1))


def _named(parameters: Any, rename: Callable[[str], str] | None) -> dict[str, Any]:
    if hasattr(parameters, "named_parameters"):
        pairs = [*parameters.named_parameters(), *parameters.named_buffers()]
    elif isinstance(parameters, Mapping):
        pairs = list(cast("Mapping[Any, Any]", parameters).items())
    else:
        pairs = [(str(name), tensor) for name, tensor in cast("Iterable[tuple[Any, Any]]", parameters)]
    named: dict[str, Any] = {}
    for raw, tensor in pairs:
        name = unwrapped(str(raw))
        name = name if rename is None else rename(name)
        if name in named:
            raise InputError(f"Two tensors are named {name!r}.", "Give each its own name; see rename.")
        if hasattr(tensor, "shape") and hasattr(tensor, "dtype"):
            named[name] = tensor
    return named


def unwrapped(name: str) -> str:
    """Return a parameter's name without what wrappers put into it."""
    for wrapper in WRAPPERS:
        if name.startswith(wrapper):
            name = name[len(wrapper) :]
            return unwrapped(name)
        name = name.replace(f".{wrapper}", ".")
    return name


def _local(tensor: Any) -> Any:
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def _type(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _is_tensor(value: Any) -> bool:
    return "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor)


def _look(array: Any, as_type: str) -> Any:
    """Return digest, finiteness and some values as int64 [2 + KEPT_VALUES], on the device where the array is."""
    if _is_tensor(array):
        return _look_at_tensor(array.detach(), as_type)
    flat = np.asarray(array).reshape(-1)
    items = _spread(flat)
    if as_type and items.dtype.kind == "f":
        items = items.astype(_array_type(as_type))
    plain = items.astype(np.float64) if items.dtype.kind in "fiub" else np.abs(items).astype(np.float64)
    words = _plain_words(items)
    place = np.arange(words.size, dtype=np.int64)
    some = np.resize(plain[:: max(1, plain.size // KEPT_VALUES)], KEPT_VALUES) if plain.size else np.zeros(KEPT_VALUES)
    finite = np.array([float(np.isfinite(plain).all())])
    return np.concatenate([_mixed(words, place).sum(keepdims=True), np.concatenate([finite, some]).view(np.int64)])


def _look_at_tensor(tensor: Any, as_type: str) -> Any:
    torch = sys.modules["torch"]
    items = _spread(tensor.resolve_conj().reshape(-1))
    if items.device.type == "mps":
        items = items.cpu()  # has no float64
    if as_type and items.is_floating_point():
        kind = getattr(torch, as_type, None)
        if not isinstance(kind, torch.dtype):
            raise InputError(f"There is no type {as_type!r}.", "For example: bfloat16, float16, float32.")
        items = items.to(kind)
    plain = (items.abs() if items.is_complex() else items).double()
    if items.is_floating_point() and items.element_size() > 1:
        items = items + 0.0
    elif items.is_complex():
        items = torch.view_as_real(items).reshape(-1)
    kinds = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    words = (items.to(torch.int8) if items.dtype is torch.bool else items.view(kinds[items.element_size()])).long()
    place = torch.arange(words.numel(), dtype=torch.int64, device=words.device)
    step = max(1, plain.numel() // KEPT_VALUES)
    some = plain[::step][:KEPT_VALUES]
    some = (
        some.repeat(-(-KEPT_VALUES // max(1, some.numel())))[:KEPT_VALUES]
        if some.numel()
        else plain.new_zeros(KEPT_VALUES)
    )
    finite = plain.isfinite().all().double().reshape(1)
    return torch.cat([_mixed(words, place).sum().reshape(1), torch.cat([finite, some]).view(torch.int64)])


def _array_type(name: str) -> Any:
    try:
        return np.dtype(name)
    except TypeError:
        raise InputError(f"NumPy has no type {name!r}.", "Give tensors, or cast the arrays yourself.") from None


def _spread(flat: Any) -> Any:
    """Return `SAMPLE_ITEMS` items evenly spread, or all of fewer."""
    count = int(flat.shape[0])
    step = -(-count // SAMPLE_ITEMS) | 1  # odd, so that it does not keep to the same columns
    return flat if count <= SAMPLE_ITEMS else flat[::step]


def _plain_words(items: NDArray[Any]) -> NDArray[np.int64]:
    items = np.ascontiguousarray(items)
    if items.dtype.kind == "f":
        items = items + items.dtype.type(0)
    size = items.dtype.itemsize // (2 if items.dtype.kind == "c" else 1)
    return items.view(f"i{size if size in (1, 2, 4, 8) else 1}").astype(np.int64)


def _mixed(words: Any, place: Any) -> Any:
    """Scramble each word with its place, so that neither a swap nor changes that cancel go unseen; wraps around."""
    mixed = (words ^ (place * _MIX[0])) * _MIX[1]
    mixed = (mixed ^ (mixed >> 29)) * _MIX[2]
    return mixed ^ (mixed >> 32)


def _fetched(looked: list[Any]) -> list[NDArray[np.int64]]:
    """Bring the looks over, those of one device together."""
    found: dict[int, NDArray[np.int64]] = {}
    devices: dict[Any, list[int]] = {}
    for place, look in enumerate(looked):
        if isinstance(look, np.ndarray):
            found[place] = look
        else:
            devices.setdefault(look.device, []).append(place)
    for places in devices.values():
        rows = sys.modules["torch"].stack([looked[place] for place in places]).cpu().numpy()
        found.update(zip(places, rows, strict=True))
    return [found[place] for place in range(len(looked))]
