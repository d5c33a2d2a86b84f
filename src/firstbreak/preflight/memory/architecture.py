"""The shape of a transformer and its exact number of parameters, from a `config.json` or from a parameter count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...errors import InputError

_KEYS: dict[str, tuple[str, ...]] = {
    "hidden": ("hidden", "hidden_size", "n_embd", "d_model"),
    "layers": ("layers", "num_hidden_layers", "n_layer", "num_layers"),
    "heads": ("heads", "num_attention_heads", "n_head"),
    "kv_heads": ("kv_heads", "num_key_value_heads"),
    "head_dim": ("head_dim",),
    "intermediate": ("intermediate", "intermediate_size", "n_inner", "ffn_dim"),
    "vocab": ("vocab", "vocab_size"),
    "max_positions": ("max_positions", "max_position_embeddings", "n_positions"),
    "experts": ("experts", "num_local_experts", "num_experts"),
    "experts_active": ("experts_active", "num_experts_per_tok"),
}
_QKV_BIAS = frozenset({"qwen2", "qwen2_moe", "qwen"})
_HIDDEN_PER_LAYER = 128
"""Width over depth of usual models; only used when nothing but a parameter count is known."""


@dataclass(frozen=True)
class Architecture:
    """A decoder-only transformer.

    `gated`: the MLP has three matrices (SwiGLU) instead of two. `bias`: none, qkv or all. `learned_positions`: a table
    of positions instead of a rotary embedding. `norm`: rms or layer. `guessed`: made from a parameter count.
    """

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    intermediate: int
    vocab: int
    head_dim: int
    tied: bool = True
    gated: bool = True
    bias: str = "none"
    norm: str = "rms"
    learned_positions: int = 0
    max_positions: int = 0
    dropout: bool = False
    experts: int = 1
    experts_active: int = 1
    guessed: bool = False

    @property
    def queries(self) -> int:
        """Width of all query heads together."""
        return self.heads * self.head_dim

    @property
    def keys(self) -> int:
        """Width of all key heads together."""
        return self.kv_heads * self.head_dim

    @property
    def linears(self) -> dict[str, tuple[int, int]]:
        """The linear maps of one layer: name -> (in, out)."""
        h, i = self.hidden, self.intermediate
        mlp = {"gate": (h, i), "up": (h, i), "down": (i, h)} if self.gated else {"up": (h, i), "down": (i, h)}
        return {"q": (h, self.queries), "k": (h, self.keys), "v": (h, self.keys), "o": (self.queries, h), **mlp}

    @property
    def layer_parameters(self) -> int:
        """Parameters of one layer."""
        biased = {"none": (), "qkv": ("q", "k", "v"), "all": tuple(self.linears)}[self.bias]
        total = 0
        for name, (d_in, d_out) in self.linears.items():
            copies = self.experts if name in ("gate", "up", "down") else 1
            total += copies * (d_in * d_out + (d_out if name in biased else 0))
        router = self.hidden * self.experts if self.experts > 1 else 0
        return total + router + 2 * self.norm_parameters

    @property
    def norm_parameters(self) -> int:
        """Parameters of one norm."""
        return self.hidden * (2 if self.norm == "layer" else 1)

    @property
    def embedding_parameters(self) -> int:
        """Parameters of the token and position tables."""
        return (self.vocab + self.learned_positions) * self.hidden

    def parameters(self, scalar_head: bool = False) -> int:
        """Return all parameters; `scalar_head` puts one number in the place of the logits (critic, reward model)."""
        head = self.hidden if scalar_head else 0 if self.tied else self.vocab * self.hidden
        return self.embedding_parameters + self.layers * self.layer_parameters + self.norm_parameters + head


def architecture_of(config: Mapping[str, Any]) -> Architecture:
    """Return the shape that a `config.json` (or a table with this module's names) describes.

    Raises:
        InputError: the numbers of hidden units, layers or heads are missing, or are no whole numbers above 0.
    """
    found: dict[str, int] = {}
    for name, keys in _KEYS.items():
        value = next((config[k] for k in keys if config.get(k) is not None), None)
        if value is not None:
            if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                raise InputError(f"{name} = {value!r} is no whole number above 0.", "Take it from the config.json.")
            found[name] = value
    missing = [name for name in ("hidden", "layers", "heads", "vocab") if name not in found]
    if missing:
        raise InputError(f"The architecture lacks {', '.join(missing)}.", "Give them, or parameters = the count.")
    kind = str(config.get("model_type", ""))
    like_gpt2 = kind == "gpt2" or "n_embd" in config
    found.setdefault("kv_heads", found["heads"])
    found.setdefault("head_dim", found["hidden"] // found["heads"])
    found.setdefault("intermediate", 4 * found["hidden"])
    made = Architecture(
        hidden=found["hidden"],
        layers=found["layers"],
        heads=found["heads"],
        kv_heads=found["kv_heads"],
        intermediate=found["intermediate"],
        vocab=found["vocab"],
        head_dim=found["head_dim"],
        max_positions=found.get("max_positions", 0),
        experts=found.get("experts", 1),
        experts_active=found.get("experts_active", 1),
        tied=bool(config.get("tied", config.get("tie_word_embeddings", like_gpt2))),
        gated=bool(config.get("gated", not like_gpt2)),
        bias=str(config.get("bias", _bias(config, kind, like_gpt2))),
        norm=str(config.get("norm", "layer" if like_gpt2 else "rms")),
        learned_positions=found.get("max_positions", 0) if like_gpt2 else 0,
        dropout=any(float(config.get(k) or 0) > 0 for k in ("dropout", "resid_pdrop", "attn_pdrop")),
    )
    return replace(made, learned_positions=int(config.get("learned_positions", made.learned_positions)))


def _bias(config: Mapping[str, Any], kind: str, like_gpt2: bool) -> str:
    if like_gpt2:
        return "all"
    return "qkv" if kind in _QKV_BIAS or config.get("attention_bias") else "none"


def architecture_like(parameters: int) -> Architecture:
    """Return a usual shape with about this many parameters (width 128 times depth); marked as guessed."""
    h = max(64, round((parameters * _HIDDEN_PER_LAYER / 12) ** (1 / 3) / 64) * 64)
    vocab = 32_000 if parameters > 5e8 else min(32_000, max(256, parameters // (4 * h)))
    layers = max(1, round((parameters - vocab * h) / (12 * h * h)))
    heads = max(1, h // 64)
    return Architecture(h, layers, heads, heads, round(8 * h / 3), vocab, h // heads, guessed=True)
