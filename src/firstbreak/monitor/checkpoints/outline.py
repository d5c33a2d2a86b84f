"""What a state holds, leaf by leaf: which part of a trainer each leaf belongs to, and a digest of its value."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from .parts import states
from .rng import generator_state, is_generator

_OPTIMISER = frozenset({"param_groups", "state"})
_SIGNS: tuple[tuple[frozenset[str], str], ...] = (
    (_OPTIMISER, "optimiser"),
    (frozenset({"last_epoch", "_step_count"}), "scheduler"),
    (frozenset({"growth_factor", "backoff_factor"}), "grad_scaler"),
    (frozenset({"bit_generator", "state"}), "rng"),
    (frozenset({"_storage", "_sampler", "_writer"}), "replay"),
)
"""Keys by which a piece of state is known whatever it is called: those of torch, numpy and TorchRL."""

_EDGE = r"(?:^|[/._])"
_END = r"(?:$|[/._\d])"
_NAMES: tuple[tuple[str, str], ...] = (
    (r"optim|exp_avg|momentum_buffer|square_avg|" + _EDGE + r"opt" + _END, "optimiser"),
    (r"rng|random_state|mt19937|bit_generator", "rng"),
    (r"(?:ret|return|reward|value)s?[/._]?(?:rms|norm|scal|preprocessor|running_mean)", "return_normaliser"),
    (
        r"(?:obs|observation|state|input)s?[/._]?(?:rms|norm|preprocessor|scal)|running_mean_std",
        "observation_normaliser",
    ),
    (r"vec_?norm", "observation_normaliser"),
    (r"lr_?sched|scheduler|" + _EDGE + r"sched" + _END, "scheduler"),
    (r"scaler|growth_tracker|loss_scale", "grad_scaler"),
    (r"log_?(?:alpha|ent_coef|temp)|" + _EDGE + r"(?:alpha|temperature|ent_coef)" + _END, "log_alpha"),
    (r"replay|" + _EDGE + r"buffer" + _END, "replay"),
    (r"target(?!_(?:entropy|kl|update|policy|noise))", "target_network"),
    (_EDGE + r"(?:ema|swa|averaged)" + _END, "ema"),
    (_EDGE + r"ref(?:erence)?(?:_model|_policy)?" + _END, "reference"),
    (r"epsilon|exploration_rate|" + _EDGE + r"eps" + _END, "epsilon"),
    (r"kl_(?:coef|ctl|ctrl|controller|weight)|" + _EDGE + r"beta_kl" + _END, "kl_coefficient"),
    (r"data_?loader|data_position|prompt_(?:index|order|position)|" + _EDGE + r"sampler" + _END, "data_position"),
)
"""Names by which a leaf is known, the first that matches; case does not count."""
_STEP = re.compile(
    _EDGE
    + r"(?:global_?|num_|n_|env_|total_|train_|current_)*"
    + r"(?:time)?(?:steps?|iter|iterations?|updates?|epochs?|frames?|it)$"
)
_CRITIC = re.compile(r"critic|value|v_?head|baseline|q_?net|qf|qvalue|" + _EDGE + r"(?:q|v|vf)" + _END)
_ATTENTION = re.compile(r"attn|attention|key_?value")
_VALUE_HEAD = re.compile(r"critic|v_?head|value_?head")
_TEMPERATURE = re.compile(r"alpha|ent_coef|temp")
_COMPILED = tuple((re.compile(pattern), part) for pattern, part in _NAMES)


@dataclass(frozen=True)
class Leaf:
    """One value of a state: the part it belongs to (`""` when not known), what it is, and a digest."""

    part: str
    kind: str
    digest: str
    number: float | None = None


@dataclass
class Outline:
    """Every leaf of a state by its path, and what was noticed on the way."""

    leaves: dict[str, Leaf] = field(default_factory=dict[str, Leaf])
    blank: list[str] = field(default_factory=list[str])
    """Optimisers that should have moments and have none."""
    beta2: float | None = None
    """Of the first optimiser that has one."""

    @property
    def parts(self) -> dict[str, list[str]]:
        """The paths of every part that is there."""
        found: dict[str, list[str]] = {}
        for path, leaf in self.leaves.items():
            if leaf.part:
                found.setdefault(leaf.part, []).append(path)
        return found

    @property
    def step(self) -> float | None:
        """The largest counter, None when there is none."""
        return max((x.number for x in self.leaves.values() if x.part == "step" and x.number is not None), default=None)


def outline_of(parts: Mapping[str, Any]) -> Outline:
    """Walk live parts or a state; nothing is kept but digests."""
    outline = Outline()
    for name, part in parts.items():
        _walk(outline, part, str(name), "rng" if is_generator(part) else _by_class(part))
    return outline


def _walk(outline: Outline, value: Any, path: str, part: str) -> None:
    if is_generator(value):
        value, part = generator_state(value), "rng"
    elif callable(getattr(value, "state_dict", None)):
        value = states(value)
    if isinstance(value, Mapping):
        inner = cast("Mapping[Any, Any]", value)
        part = part or _by_keys(inner, path)
        if {str(key) for key in inner} >= _OPTIMISER:
            _notice_optimiser(outline, inner, path)
        entries = [(str(key), item) for key, item in inner.items()]
    elif isinstance(value, list | tuple):
        entries = [(str(i), item) for i, item in enumerate(cast("list[Any]", value))]
    else:
        outline.leaves[path] = _leaf(value, path, part)
        return
    if not entries:
        outline.leaves[path] = Leaf(part or _by_name(path), "empty", "")
    for key, item in entries:
        _walk(outline, item, f"{path}/{key}", part)


def _notice_optimiser(outline: Outline, value: Mapping[Any, Any], path: str) -> None:
    groups = cast("list[Any]", value.get("param_groups"))
    settings: dict[str, Any] = dict(groups[0]) if groups else {}
    if "betas" in settings and outline.beta2 is None:
        outline.beta2 = float(settings["betas"][1])
    has_moments = "betas" in settings or bool(settings.get("momentum")) or "alpha" in settings
    if has_moments and not value.get("state"):
        outline.blank.append(path)


def _by_class(part: Any) -> str:
    return "grad_scaler" if type(part).__name__ == "GradScaler" else ""


def _by_keys(value: Mapping[Any, Any], path: str) -> str:
    keys = {key for key in value if isinstance(key, str)}
    for sign, part in _SIGNS:
        if sign <= keys:
            return "alpha_optimiser" if part == "optimiser" and _TEMPERATURE.search(path.lower()) else part
    return ""


def _by_name(path: str) -> str:
    lower = path.lower()
    for pattern, part in _COMPILED:
        if pattern.search(lower):
            return "alpha_optimiser" if part == "optimiser" and _TEMPERATURE.search(lower) else part
    return ""


def _leaf(value: Any, path: str, part: str) -> Leaf:
    torch = cast(Any, sys.modules.get("torch"))
    if torch is not None and isinstance(value, torch.Tensor):
        plain = value.detach().cpu().contiguous()
        dtype, shape = str(plain.dtype).removeprefix("torch."), tuple(plain.shape)
        data = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
        number = float(plain) if plain.numel() == 1 and not plain.is_complex() else None
        return _array_leaf(path, part, dtype, shape, data, number)
    array: np.ndarray[Any, Any] | None = None
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(cast(Any, value))
    if array is not None and not array.dtype.hasobject:
        number = float(array.reshape(-1)[0]) if array.size == 1 and array.dtype.kind in "fiu" else None
        return _array_leaf(path, part, str(array.dtype), array.shape, array.tobytes(), number)
    number = float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None
    value = cast(Any, value)
    known = part or _by_name(path) or ("step" if number is not None and _STEP.search(path.lower()) else "")
    return Leaf(known, type(value).__name__, _hash(repr(value).encode()), number)


def _array_leaf(path: str, part: str, dtype: str, shape: tuple[int, ...], data: bytes, number: float | None) -> Leaf:
    known = part or _by_name(path)
    if not known and number is not None and _STEP.search(path.lower()):
        known = "step"
    elif not known and dtype == "uint8" and len(shape) == 1:
        known = "rng"  # what a generator of torch calls its state
    elif not known:
        known = "critic" if _is_critic(path.lower()) else "policy"
    return Leaf(known, f"{dtype}{list(shape)}", _hash(data), number)


def _is_critic(path: str) -> bool:
    """Whether weights are named as a critic's; queries, keys and values of attention are not."""
    return bool(_CRITIC.search(path) and (_VALUE_HEAD.search(path) or not _ATTENTION.search(path)))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
