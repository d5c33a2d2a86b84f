"""Each memory check: a plan that fires, a healthy one, a near miss; plans from files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firstbreak.check import checks_of, look_at
from firstbreak.diagnosis import Verdict
from firstbreak.errors import ConfigError, FirstbreakError
from firstbreak.finding import Severity
from firstbreak.preflight.memory.api import inspect_memory
from firstbreak.preflight.memory.architecture import architecture_like, architecture_of
from firstbreak.preflight.memory.ledger import ledger
from firstbreak.preflight.memory.plan import GIB, Model, Plan, Rollout
from firstbreak.preflight.memory.planfile import plan_of, read_plan

SMALL = {"hidden_size": 1024, "num_hidden_layers": 16, "num_attention_heads": 16, "num_key_value_heads": 4,
         "intermediate_size": 2816, "vocab_size": 32000, "max_position_embeddings": 4096}  # fmt: skip
ACTOR = Model("actor", architecture_of(SMALL), trained=True)
PLAN = Plan((ACTOR,), 24 * GIB, micro_batch=2)
BIG = Model(
    "actor", architecture_of(dict(SMALL, hidden_size=4096, num_hidden_layers=32, intermediate_size=11008)), True
)


def fired(name: str, plan: Plan) -> Severity | None:
    check = next(c for c in checks_of("memory") if c.name == name)
    seen = look_at(check, ledger(plan))
    assert not seen.error, seen.error
    if seen.symptom is None:
        return None
    assert len(seen.symptom.message) <= 120
    return seen.symptom.severity or check.severity


def test_a_small_plan_is_healthy() -> None:
    seen = inspect_memory(replace(PLAN, rollout=Rollout("colocated", 0.4, 16)))
    assert seen.verdict is Verdict.HEALTHY, seen.findings
    assert not seen.findings
    assert 0 < seen.details["headroom_frac"] < 1
    json.dumps(seen.details)


def test_a_plan_that_does_not_fit() -> None:
    seen = inspect_memory(Plan((BIG,), 24 * GIB))
    assert seen.verdict is Verdict.BROKEN
    assert seen.first_break is not None
    assert seen.first_break.name == "plan-does-not-fit"
    assert fired("plan-does-not-fit", PLAN) is None
    expected = ledger(PLAN).worst_bytes
    assert fired("plan-does-not-fit", replace(PLAN, gpu_bytes=expected - 1)) is Severity.WARNING
    assert fired("plan-does-not-fit", replace(PLAN, gpu_bytes=expected)) is None


def test_headroom() -> None:
    expected = ledger(PLAN).worst_bytes
    assert fired("headroom-small", replace(PLAN, gpu_bytes=int(expected / 0.95))) is Severity.WARNING
    assert fired("headroom-small", replace(PLAN, gpu_bytes=int(expected / 0.89))) is None
    assert fired("headroom-small", replace(PLAN, gpu_bytes=expected - 1)) is None


def test_an_engine_that_leaves_no_room() -> None:
    greedy = replace(PLAN, rollout=Rollout("colocated", 0.9))
    assert fired("engine-leaves-no-room", greedy) is Severity.ERROR
    asleep = replace(PLAN, rollout=Rollout("colocated", 0.7, sleeps=True))
    assert fired("engine-leaves-no-room", asleep) is None
    assert fired("engine-leaves-no-room", replace(PLAN, rollout=Rollout("separate", 0.95))) is None
    assert fired("engine-leaves-no-room", replace(greedy, models=(BIG,))) is None
    seen = inspect_memory(greedy)
    (fit,) = [f for f in seen.findings if f.name == "plan-does-not-fit"]
    assert fit.consequence_of == "PME001"


def test_logits_that_dominate() -> None:
    wide = replace(
        PLAN, models=(replace(ACTOR, architecture=replace(ACTOR.architecture, vocab=152_000)),), micro_batch=8
    )
    assert fired("logits-dominate", replace(wide, gpu_bytes=80 * GIB)) is Severity.INFO
    assert fired("logits-dominate", wide) is Severity.WARNING
    assert fired("logits-dominate", replace(wide, logits_chunk_tokens=512)) is None


def test_attention_scores_that_are_kept() -> None:
    eager = replace(PLAN, flash_attention=False, response_tokens=3000)
    assert fired("attention-scores-kept", eager) is Severity.WARNING
    assert fired("attention-scores-kept", replace(eager, gpu_bytes=200 * GIB)) is Severity.INFO
    assert fired("attention-scores-kept", replace(eager, checkpointing="selective")) is None
    assert fired("attention-scores-kept", replace(eager, prompt_tokens=32, response_tokens=32)) is None


def test_a_cache_too_small() -> None:
    crowd = replace(PLAN, rollout=Rollout("separate", 0.9, 4000))
    assert fired("kv-cache-preempts", crowd) is Severity.WARNING
    assert fired("kv-cache-preempts", replace(PLAN, rollout=Rollout("separate", 0.9, 100))) is None
    none = replace(PLAN, gpu_bytes=1 * GIB, rollout=Rollout("separate", 0.45, 100))
    assert fired("kv-cache-preempts", none) is Severity.ERROR


def test_an_optimiser_on_every_gpu() -> None:
    each = Plan((BIG,), 160 * GIB, ranks=8)
    assert fired("optimiser-unsharded", each) is Severity.INFO
    assert fired("optimiser-unsharded", replace(each, gpu_bytes=100 * GIB)) is Severity.WARNING
    assert fired("optimiser-unsharded", replace(each, sharding="zero1")) is None
    assert fired("optimiser-unsharded", replace(each, gpu_bytes=400 * GIB)) is None


def test_a_reference_that_is_trained() -> None:
    frozen = Model("reference", ACTOR.architecture)
    assert fired("frozen-model-trained", replace(PLAN, models=(ACTOR, frozen))) is None
    assert (
        fired("frozen-model-trained", replace(PLAN, models=(ACTOR, replace(frozen, trained=True)))) is Severity.WARNING
    )


def test_heads_over_gpus() -> None:
    assert fired("heads-not-divisible", replace(PLAN, tensor_parallel=3)) is Severity.ERROR
    assert fired("heads-not-divisible", replace(PLAN, tensor_parallel=8)) is Severity.INFO
    assert fired("heads-not-divisible", replace(PLAN, tensor_parallel=4)) is None


def test_more_tokens_than_positions() -> None:
    assert fired("sequence-beyond-positions", replace(PLAN, response_tokens=3584)) is None
    assert fired("sequence-beyond-positions", replace(PLAN, response_tokens=3585)) is Severity.WARNING
    table = architecture_of({"n_embd": 768, "n_layer": 2, "n_head": 12, "vocab_size": 99, "n_positions": 1024})
    learnt = replace(PLAN, models=(Model("reward", table), ACTOR), response_tokens=1024)
    assert fired("sequence-beyond-positions", learnt) is Severity.ERROR


def test_a_plan_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    path = tmp_path / "memory.toml"
    path.write_text(
        'gpu_gib = 24\nmicro_batch = 2\n[models.actor]\nconfig = "config.json"\ntrained = true\n'
        '[models.critic]\nshares = "actor"\ntrained = true\n'
        '[rollout]\nengine = "colocated"\ngpu_memory_utilisation = 0.3\n'
    )
    made = read_plan(path)
    assert made.models[0] == ACTOR
    assert made.models[1].architecture == ACTOR.architecture
    assert made.rollout.engine == "colocated"
    assert inspect_memory(path).verdict is Verdict.HEALTHY
    guessed = inspect_memory({"gpu_gib": 24, "models": {"actor": {"parameters": 3e8, "trained": True}}})
    assert any("guessed" in note for note in guessed.notes)
    assert plan_of({"gpu_bytes": 5, "models": {"actor": {"parameters": 7}}}).models[
        0
    ].architecture == architecture_like(7)


ONE = {"actor": {"parameters": 1000}}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"models": ONE}, "memory of a GPU"),
        ({"gpu_gib": 8}, "no models"),
        ({"gpu_gib": 8, "models": {"actor": {}}}, "size is missing"),
        ({"gpu_gib": 8, "models": {"actr": {"parameters": 3}}}, "actor"),
        ({"gpu_gib": 8, "models": ONE, "optimizer": "adam"}, "optimiser"),
        ({"gpu_gib": 8, "models": ONE, "optimiser": "adm"}, "adam"),
        ({"gpu_gib": 8, "models": ONE, "micro_batch": 0}, "micro_batch"),
        ({"gpu_gib": 8, "models": ONE, "ranks": "2"}, "ranks"),
        ({"gpu_gib": 8, "models": ONE, "ranks": True}, "ranks"),
        ({"gpu_gib": -8, "models": ONE}, "gpu_gib"),
        ({"gpu_gib": 8, "models": {"critic": {"shares": "actor"}}}, "shares"),
        ({"gpu_gib": 8, "models": {"actor": {"config": "missing.json"}}}, "missing.json"),
        ({"gpu_gib": 8, "models": {"actor": {"architecture": {"hidden": 8}}}}, "layers"),
        ({"gpu_gib": 8, "models": ONE, "rollout": {"engine": "vllm"}}, "engine"),
        ({"gpu_gib": 8, "models": {"actor": 3}}, "no table"),
    ],
)
def test_a_wrong_plan_is_refused_with_what_is_wrong(table: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        plan_of(table)


def test_a_file_that_is_no_plan(tmp_path: Path) -> None:
    with pytest.raises(FirstbreakError):
        inspect_memory(tmp_path / "missing.toml")
    path = tmp_path / "memory.toml"
    path.write_text("= 3")
    with pytest.raises(ConfigError, match="TOML"):
        inspect_memory(path)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(ConfigError, match="gpu_gib"):
        plan_of({"gpu_gib": number, "models": {"actor": {"parameters": 7e9, "trained": True}}})
