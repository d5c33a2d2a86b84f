"""The ledger: exact counts, known formulas, phases, sharding, remedies."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.preflight.memory.activations import kept_activations, kv_bytes_per_token, layer_activations
from firstbreak.preflight.memory.architecture import Architecture, architecture_like, architecture_of
from firstbreak.preflight.memory.ledger import kv_room_tokens, ledger
from firstbreak.preflight.memory.plan import GIB, Model, Plan, Rollout
from firstbreak.preflight.memory.remedies import remedies
from firstbreak.preflight.memory.states import states_of

GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257, "n_positions": 1024}
LLAMA_8B = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
            "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": False}  # fmt: skip
QWEN_7B = {"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
           "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064}  # fmt: skip
BIG = architecture_of(QWEN_7B)


def plan(**changes: object) -> Plan:
    return replace(Plan((Model("actor", BIG, trained=True),), 80 * GIB), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("config", "parameters"),
    [(GPT2, 124_439_808), (LLAMA_8B, 8_030_261_248), (QWEN_7B, 7_615_616_512)],
)
def test_parameter_counts_are_the_published_ones(config: dict[str, object], parameters: int) -> None:
    assert architecture_of(config).parameters() == parameters


def test_mixture_of_experts_counts_every_expert() -> None:
    mixtral = LLAMA_8B | {"vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2}
    assert architecture_of(mixtral).parameters() == 46_702_792_704


def test_a_config_without_a_size_is_refused() -> None:
    with pytest.raises(InputError, match="layers"):
        architecture_of({"hidden_size": 8, "num_attention_heads": 1, "vocab_size": 3})
    with pytest.raises(InputError, match="hidden"):
        architecture_of(dict(LLAMA_8B, hidden_size="4096"))


@pytest.mark.parametrize("parameters", [124e6, 1.5e9, 7e9, 70e9])
def test_a_guessed_shape_has_about_the_count(parameters: float) -> None:
    made = architecture_like(int(parameters))
    assert made.guessed
    assert made.parameters() == pytest.approx(parameters, rel=0.15)


def test_korthikanti_by_hand() -> None:
    """34 sbh + 5 a s^2 b a layer: 16 bits, GELU MLP of 4h, dropout, no grouped keys."""
    a = Architecture(512, 4, 8, 8, 2048, 1000, 64, gated=False, bias="all", norm="layer", dropout=True)
    p = plan(micro_batch=3, prompt_tokens=100, response_tokens=28, flash_attention=False, precision="bf16")
    s, b, h, heads = 128, 3, 512, 8
    assert layer_activations(a, p).total == 34 * s * b * h + 5 * heads * s * s * b
    half = layer_activations(a, replace(p, tensor_parallel=2)).total
    assert half == s * b * h * 10 + s * b * h * 24 // 2 + 5 * heads * s * s * b // 2


def test_mixed_precision_adam_takes_sixteen_bytes_a_parameter() -> None:
    one = states_of(Model("actor", BIG, trained=True), plan())
    psi = BIG.parameters()
    assert (one.weights, one.gradients, one.optimiser) == (2 * psi, 2 * psi, 12 * psi)


@pytest.mark.parametrize(
    ("sharding", "total"),
    [("zero1", lambda p, n: 4 * p + 12 * p / n), ("zero2", lambda p, n: 2 * p + 14 * p / n),
     ("zero3", lambda p, n: 16 * p / n), ("fsdp", lambda p, n: 16 * p / n)],
)  # fmt: skip
def test_sharding_as_in_the_zero_paper(sharding: str, total: object) -> None:
    one = states_of(Model("actor", BIG, trained=True), plan(sharding=sharding, ranks=8))
    expected = total(BIG.parameters(), 8)  # type: ignore[operator]
    assert one.weights + one.gradients + one.optimiser == pytest.approx(expected, rel=1e-6)


def test_adapters_train_little_and_a_four_bit_base_is_small() -> None:
    model = Model("actor", BIG, trained=True, lora_rank=16, bits=4)
    one = states_of(model, plan())
    widths = (3584 + 3584) + 2 * (3584 + 512) + (3584 + 3584)
    assert model.adapter_count == 16 * 28 * widths
    assert one.optimiser == 12 * model.adapter_count
    assert 0.5 < (one.weights - 2 * model.adapter_count) / BIG.parameters() < 0.55
    assert Model("actor", BIG, lora_rank=16, lora_targets=("all-linear",)).targets == tuple(BIG.linears)


def test_a_frozen_model_costs_its_weights_and_a_shared_one_next_to_nothing() -> None:
    assert states_of(Model("reference", BIG), plan()).optimiser == 0
    assert states_of(Model("reference", BIG, shares="actor"), plan()).weights == 0
    assert Model("critic", BIG, trained=True, shares="actor").trainable == BIG.hidden


def test_four_equal_models_of_ppo_take_thirty_six_bytes() -> None:
    roles = {"actor": True, "critic": True, "reference": False, "reward": False}
    table = ledger(plan(models=tuple(Model(r, BIG, t, parameters=10**9) for r, t in roles.items())))
    states = [e for e in table.entries if e.item in ("weights", "gradients", "optimiser")]
    assert sum(e.size_bytes for e in states) == 36 * 10**9
    assert table.phases == ("scoring", "update actor", "update critic")


def test_cache_bytes_of_a_token() -> None:
    assert kv_bytes_per_token(BIG) == 57_344
    engine = plan(rollout=Rollout("separate", 0.9, 100))
    left = 0.9 * 80 * GIB - 2 * BIG.parameters()
    assert kv_room_tokens(engine) == int(0.9 * left // 57_344)
    assert kv_room_tokens(plan()) is None


def test_an_engine_that_sleeps_is_gone_during_updates() -> None:
    small = Model("actor", architecture_like(500_000_000), trained=True)
    awake = ledger(Plan((small,), 80 * GIB, rollout=Rollout("colocated", 0.5)))
    asleep = ledger(Plan((small,), 80 * GIB, rollout=Rollout("colocated", 0.5, sleeps=True)))
    assert awake.total("update actor") - asleep.total("update actor") == 40 * GIB
    assert awake.total("rollout") == asleep.total("rollout")


def test_chunked_logits_do_not_grow_with_the_batch() -> None:
    chunked = [ledger(plan(micro_batch=b, logits_chunk_tokens=512)).item("logits", "update actor") for b in (1, 8)]
    assert chunked[0] == chunked[1] == 512 * BIG.vocab * 12


def test_remedies_save_what_they_say_and_gentle_ones_come_first() -> None:
    crowded = plan(micro_batch=8, prompt_tokens=1024, response_tokens=3072, flash_attention=False, ranks=8)
    found = remedies(crowded)
    before = ledger(crowded).worst_bytes
    assert found
    assert all(r.saves_bytes == before - r.peak_bytes for r in found)
    assert [r.alters for r in found] == sorted(r.alters for r in found)
    assert "flash" in found[0].name
    assert remedies(plan(gpu_bytes=10**15))


@given(
    micro=st.integers(1, 16),
    tokens=st.integers(1, 4096),
    checkpointing=st.sampled_from(["none", "selective", "full"]),
    flash=st.booleans(),
    ranks=st.sampled_from([1, 2, 8]),
    sharding=st.sampled_from(["none", "zero1", "zero2", "zero3"]),
)
def test_more_never_takes_less(
    micro: int, tokens: int, checkpointing: str, flash: bool, ranks: int, sharding: str
) -> None:
    one = plan(micro_batch=micro, prompt_tokens=0, response_tokens=tokens, checkpointing=checkpointing,
               flash_attention=flash, ranks=ranks, sharding=sharding)  # fmt: skip
    peak = ledger(one).worst_bytes
    assert ledger(replace(one, micro_batch=micro + 1)).worst_bytes >= peak
    assert ledger(replace(one, response_tokens=tokens + 64)).worst_bytes >= peak
    assert ledger(one).least(ledger(one).worst) <= peak
    model = one.models[0]
    full = kept_activations(model, replace(one, checkpointing="full"))
    assert full <= kept_activations(model, replace(one, checkpointing="none"))


def test_names_of_transformers_mean_the_same_optimisers() -> None:
    from firstbreak.preflight.memory.plan import OPTIMISERS

    assert OPTIMISERS["adamw_8bit"] == OPTIMISERS["adamw_bnb_8bit"] == OPTIMISERS["adamw8bit"] != OPTIMISERS["adamw"]
    assert OPTIMISERS["adamw_torch"] == OPTIMISERS["adamw_torch_fused"] == OPTIMISERS["adamw"]
