"""Hashes of batches and of weights: equal content, equal hash, so that repeats and drifting ranks show.

Arrays are hashed by their bits: NumPy arrays and PyTorch tensors of the same content hash alike, on any device. PyTorch
is never imported here; a tensor that is handed in brings it along.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np

WHOLE_BYTES = 1 << 16
"""Arrays up to this size are hashed entirely. Larger ones by the sum of all their words, which changes with any single
bit, and by a sample in order, which tells rearrangements apart. Engineering default."""
SAMPLE = 4096
"""Items in that sample."""
DEEPEST = 20
HASH_BITS = 48
"""A float64 holds integers up to 2^53 exactly; 48 bits leave room, and two hashes agree by chance once in 10^14."""


def fingerprint(batch: Any) -> str:
    """Return 16 hex digits that are the same for every batch of the same content.

    Args:
        batch: Arrays, tensors, numbers and texts, nested in mappings (in any order of keys), lists or tuples.
    """
    digest = hashlib.blake2b(digest_size=8)
    _feed(digest, batch, 0)
    return digest.hexdigest()


def parameter_hash(parameters: Any) -> float:
    """Return a number that is the same exactly where all weights are, to be logged as `net/weight_hash`.

    One pass over the weights and one transfer from the device. Weights that are sharded differ between ranks by design:
    hash only what every rank should hold alike.

    Args:
        parameters: A module, a mapping from name to tensor, or tensors in a fixed order.
    """
    named = _named(parameters)
    sums = [_word_sum(_local(tensor)) for _, tensor in named]
    digest = hashlib.blake2b(digest_size=8)
    for (name, tensor), total in zip(named, _fetched(sums), strict=True):
        digest.update(f"{name} {tuple(tensor.shape)} {_type(tensor)} {total};".encode())
    return float(int.from_bytes(digest.digest(), "little") & ((1 << HASH_BITS) - 1))


def _named(parameters: Any) -> list[tuple[str, Any]]:
    if hasattr(parameters, "named_parameters"):
        parameters = dict(parameters.named_parameters())
    if isinstance(parameters, Mapping):
        return sorted((str(name), tensor) for name, tensor in cast(Mapping[Any, Any], parameters).items())
    return [(str(place), tensor) for place, tensor in enumerate(cast(Iterable[Any], parameters))]


def _local(tensor: Any) -> Any:
    """Return the part of a distributed tensor that lies here."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def _fetched(sums: list[Any]) -> list[int]:
    """Return the sums as integers; those of tensors on one device come over together."""
    tensors = [total for total in sums if not isinstance(total, int)]
    if tensors and all(total.device == tensors[0].device for total in tensors):
        values = iter(sys.modules["torch"].stack(tensors).tolist())
        return [total if isinstance(total, int) else next(values) for total in sums]
    return [int(total) for total in sums]


def _is_tensor(value: Any) -> bool:
    return "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor)


def _type(array: Any) -> str:
    return str(array.dtype).removeprefix("torch.")


def _words(array: Any) -> Any:
    """Return the bits of an array or tensor as signed integers [n], on the device where they are."""
    if _is_tensor(array):
        torch = sys.modules["torch"]
        flat = array.detach().resolve_conj().reshape(-1).contiguous()
        if flat.is_complex():
            flat = torch.view_as_real(flat).reshape(-1)
        if flat.dtype is torch.bool:
            return flat.to(torch.int8)
        return flat.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[flat.element_size()])
    flat = np.ascontiguousarray(array).reshape(-1)
    size = flat.dtype.itemsize // (2 if flat.dtype.kind == "c" else 1)
    word = size if size in (1, 2, 4, 8) else 8 if size % 8 == 0 else 1
    return flat.view(f"i{word}")


def _word_sum(array: Any) -> Any:
    words = _words(array)
    if _is_tensor(words):
        return words.sum(dtype=sys.modules["torch"].int64)
    return int(words.sum(dtype=np.int64))  # wraps around, as it does on the device


def _feed(digest: Any, value: Any, depth: int) -> None:
    if depth > DEEPEST:
        return
    pairs = _pairs(value)
    if _is_array(value):
        _feed_array(digest, value)
    elif pairs is not None:
        digest.update(f"map {len(pairs)};".encode())
        for key, item in pairs:
            digest.update(f"{len(key)} {key}=".encode("utf-8", "backslashreplace"))
            _feed(digest, item, depth + 1)
    elif isinstance(value, (list, tuple, np.ndarray)):
        items = list(cast(Iterable[Any], value))
        digest.update(f"list {len(items)};".encode())
        for item in items:
            _feed(digest, item, depth + 1)
    else:
        digest.update(f"{type(value).__name__} {value!r};".encode("utf-8", "backslashreplace"))


def _is_array(value: Any) -> bool:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return (isinstance(value, (np.ndarray, np.generic)) and kind != "O") or _is_tensor(value)


def _pairs(value: Any) -> list[tuple[str, Any]] | None:
    """Return the members of a mapping, of what behaves like one (TensorDict), or of an object, by name; else None."""
    if isinstance(value, (np.ndarray, np.generic, type)) or _is_tensor(value):
        return None
    items, fields = getattr(value, "items", None), getattr(value, "__dict__", None)
    if callable(items) and hasattr(value, "keys"):
        members = cast(Iterable[tuple[Any, Any]], items())
    elif isinstance(fields, dict):
        members = cast(dict[Any, Any], fields).items()
    else:
        return None
    return sorted(((str(key), item) for key, item in members), key=lambda pair: pair[0])


def _feed_array(digest: Any, array: Any) -> None:
    digest.update(f"array {tuple(array.shape)} {_type(array)};".encode())
    words = _words(array)
    count = int(words.shape[0])
    size = words.element_size() if _is_tensor(words) else words.dtype.itemsize
    if count * size > WHOLE_BYTES:
        digest.update(f"{int(_word_sum(array))};".encode())
        words = words[:: -(-count // SAMPLE)]
    if _is_tensor(words):
        words = words.cpu().numpy()
    digest.update(np.ascontiguousarray(words).astype(words.dtype.newbyteorder("<"), copy=False).tobytes())
