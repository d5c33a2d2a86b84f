"""A state on disk without pickle: structure as JSON, numpy arrays as .npz, tensors as a flat `torch.save`."""

from __future__ import annotations

import base64
import json
import math
import sys
import zipfile
from collections import OrderedDict, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...errors import missing_extra
from .disk import sink
from .errors import CheckpointError

TREE = "tree.json"
ARRAYS = "arrays.npz"
TENSORS = "tensors.pt"
_TAG = "$"


class Encoder:
    """Turns nested plain data into JSON, and takes out arrays and tensors under readable keys."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self.tensors: dict[str, Any] = {}

    def encode(self, value: Any, path: str = "") -> Any:
        """Return what JSON can hold for `value`, which lies at `path`."""
        if value is None or isinstance(value, bool) or (type(value) in (int, str)):
            return value
        if isinstance(value, np.generic | np.ndarray):
            return self._array(value, path)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {_TAG: "float", "v": str(float(value))}
        torch = cast(Any, sys.modules.get("torch"))
        if torch is not None:
            if isinstance(value, torch.Tensor):
                return {_TAG: "tensor", "v": _put(self.tensors, path, compact(value))}
            if isinstance(value, torch.dtype | torch.device):
                kind = "dtype" if isinstance(value, torch.dtype) else "device"
                return {_TAG: kind, "v": str(value).removeprefix("torch.")}
        return self._container(value, path)

    def _container(self, value: Any, path: str) -> Any:
        if isinstance(value, Mapping):
            return self._mapping(cast("Mapping[Any, Any]", value), path)
        for kind in (list, tuple, deque, set, frozenset):
            if isinstance(value, kind):
                items = [self.encode(v, f"{path}/{i}") for i, v in enumerate(cast("list[Any]", value))]
                extra = {"n": cast("deque[Any]", value).maxlen} if kind is deque else {}
                return items if kind is list else {_TAG: kind.__name__, "v": items, **extra}
        if isinstance(value, bytes | bytearray):
            return {_TAG: "bytes", "v": base64.b64encode(value).decode()}
        if isinstance(value, complex):
            return {_TAG: "complex", "v": [self.encode(value.real), self.encode(value.imag)]}
        if isinstance(value, int):
            return int(value)
        if isinstance(value, str):
            return str(value)
        raise CheckpointError(
            f"The state holds a {type(value).__qualname__} at {path or 'the top'}, which is not plain data.",
            "Give an object with state_dict(), numbers, texts, arrays or tensors; or write it yourself with `save=`.",
        )

    def _mapping(self, value: Mapping[Any, Any], path: str) -> Any:
        meta = getattr(value, "_metadata", None)
        if meta is None and all(type(k) is str and k != _TAG for k in value):
            return {k: self.encode(v, f"{path}/{k}" if path else k) for k, v in value.items()}
        pairs = [[self.encode(k), self.encode(v, f"{path}/{k}" if path else str(k))] for k, v in value.items()]
        extra = {} if meta is None else {"meta": self.encode(dict(meta))}
        return {_TAG: "dict", "v": pairs, **extra}

    def _array(self, value: Any, path: str) -> Any:
        if value.dtype.hasobject:
            raise CheckpointError(
                f"The array at {path} holds Python objects, which only a pickle could keep.",
                "Convert it to numbers, or write it yourself with `save=`.",
            )
        key = _put(self.arrays, path, np.asarray(value))
        return {_TAG: "array" if isinstance(value, np.ndarray) else "number", "v": key}


def compact(tensor: Any) -> Any:
    """Return the plain tensor behind `tensor`, copied when it is a view of something larger."""
    import torch

    plain = tensor.detach().as_subclass(torch.Tensor)
    if plain.layout is torch.strided and plain.untyped_storage().nbytes() != plain.numel() * plain.element_size():
        return plain.clone()
    return plain


def write(folder: Path, tree: Any) -> None:
    """Write `tree` into `folder`."""
    encoder = Encoder()
    structure = encoder.encode(tree)
    if encoder.arrays:
        with sink(folder / ARRAYS) as out, zipfile.ZipFile(cast(Any, out), "w") as archive:
            for key, array in encoder.arrays.items():
                with archive.open(f"{key}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
    if encoder.tensors:
        import torch

        with sink(folder / TENSORS) as out:
            torch.save(encoder.tensors, cast(Any, out))
    with sink(folder / TREE) as out:
        out.write(json.dumps(structure).encode())


def read(folder: Path) -> Any:
    """Return the tree that `write` put into `folder`; tensors come on the CPU. Nothing is ever unpickled."""
    structure = json.loads((folder / TREE).read_text("utf-8"))
    arrays: dict[str, Any] = {}
    if (folder / ARRAYS).exists():
        with np.load(folder / ARRAYS, allow_pickle=False) as opened:
            arrays = dict(opened)
    tensors: dict[str, Any] = read_tensors(folder / TENSORS) if (folder / TENSORS).exists() else {}
    return _decode(structure, arrays, tensors)


def read_tensors(file: Any) -> Any:
    """Open what `torch.save` wrote, a path or a file, with `weights_only`: code in it is refused, not run."""
    try:
        import torch
    except ImportError as error:
        raise missing_extra("torch", "torchrl", "Reading a checkpoint with tensors") from error
    return torch.load(file, map_location="cpu", weights_only=True)


def _put(store: dict[str, Any], path: str, value: Any) -> str:
    key, n = path.replace("\\", "_") or "value", 1
    while key in store:
        key, n = f"{path}~{n}", n + 1
    store[key] = value
    return key


def _decode(node: Any, arrays: Mapping[str, Any], tensors: Mapping[str, Any]) -> Any:
    def go(inner: Any) -> Any:
        return _decode(inner, arrays, tensors)

    if isinstance(node, list):
        return [go(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    fields = cast("dict[str, Any]", node)
    if _TAG not in fields:
        return {k: go(v) for k, v in fields.items()}
    tag, value = fields[_TAG], fields["v"]
    if tag == "dict":
        return _mapping([(go(k), go(v)) for k, v in value], go(fields.get("meta")))
    if tag == "deque":
        return deque((go(item) for item in value), fields["n"])
    return _leaf(tag, value, go, arrays, tensors)


def _mapping(pairs: list[tuple[Any, Any]], meta: Any) -> Any:
    if meta is None:
        return dict(pairs)
    found = OrderedDict(pairs)
    cast(Any, found)._metadata = OrderedDict(meta)
    return found


def _leaf(tag: str, value: Any, go: Any, arrays: Mapping[str, Any], tensors: Mapping[str, Any]) -> Any:
    plain: dict[str, Any] = {"tuple": tuple, "set": set, "frozenset": frozenset}
    if tag in plain:
        return plain[tag](go(item) for item in value)
    if tag == "tensor":
        return tensors[value]
    if tag == "array":
        return arrays[value]
    if tag == "number":
        return arrays[value][()]
    if tag == "float":
        return float(value)
    if tag == "bytes":
        return base64.b64decode(value)
    if tag == "complex":
        return complex(go(value[0]), go(value[1]))
    if tag in {"dtype", "device"}:
        import torch

        return torch.device(value) if tag == "device" else _dtype(torch, value)
    raise CheckpointError(
        f"The checkpoint holds an unknown kind of value, {tag!r}.", "It may come from a newer version."
    )


def _dtype(torch: Any, name: str) -> Any:
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise CheckpointError(f"The checkpoint names the unknown dtype {name!r}.")
    return found
