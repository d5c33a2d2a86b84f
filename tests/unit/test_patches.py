"""Patches: each parses in its own format, the version decides the keys, and nothing is made up for the unknown."""

from __future__ import annotations

import argparse
import ast
import tomllib
from itertools import pairwise
from typing import Any

import pytest
import yaml

from firstbreak import synth
from firstbreak.api import diagnose_log
from firstbreak.causes import all_causes
from firstbreak.config import Settings
from firstbreak.patch_text import result
from firstbreak.patches import FORMATS, Patch, entries, kinds, patches_for, release, version_of
from firstbreak.report import html, markdown, text
from firstbreak.runlog import RunLog

FRAMEWORKS = sorted({e.framework for e in entries()})


def run(framework: str, algorithm: str = "GRPO", **config: Any) -> RunLog:
    """A healthy run of a framework with these settings."""
    return synth.run(synth.HEALTHY["GRPO"], algorithm=algorithm, framework=framework, config=config)


def every_patch() -> list[Patch]:
    """Every patch of the table, for a run that states its version and what can be computed from."""
    stated = {"max_response_tokens": 1024, "gradient_accumulation": 8, "batch_size": 256}
    flags = ("async_train", "partial_rollout", "train.async_enable", "train.partial_rollout_enable")
    stated |= dict.fromkeys((*flags, "vllm.enable_prefix_caching", "partial-rollout"), True)
    made: list[Patch] = []
    for entry in entries():
        version = {f"{entry.framework}_version": entry.since or "99"}
        log = run(entry.framework, entry.algorithm or "GRPO", **stated, **version)
        made += patches_for(entry.kind, log)
    return made


def flat(tree: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Dotted keys of a nested table."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        found |= flat(value, f"{path}{key}.") if isinstance(value, dict) else {path + key: value}
    return found


def parsed(patch: Patch) -> dict[str, Any]:
    """Read a patch's result the way its framework reads its configuration."""
    after = result(patch.lines)
    if patch.format == "yaml":
        return flat(yaml.safe_load(after))
    if patch.format == "toml":
        return flat(tomllib.loads(after))
    if patch.format == "kwargs":
        call = ast.parse(after, mode="eval").body
        assert isinstance(call, ast.Call)
        return {k.arg or "": ast.literal_eval(k.value) for k in call.keywords}
    if patch.format == "overrides":
        pairs = (line.split("=", 1) for line in after.splitlines())
        return {key: yaml.safe_load(value) for key, value in pairs}
    parser = argparse.ArgumentParser()
    for change in patch.changes:
        if change.value is True:
            parser.add_argument(f"--{change.key}", action="store_true", dest=change.key)
        else:
            parser.add_argument(f"--{change.key}", dest=change.key, nargs="+")
    return {k: v for k, v in vars(parser.parse_args(after.split())).items() if v not in (None, False)}


PATCHES = every_patch()


@pytest.mark.parametrize("patch", PATCHES, ids=lambda p: f"{p.framework}-{p.kind}-{p.versions}")
def test_a_patch_parses_in_its_format_and_says_what_it_should(patch: Patch) -> None:
    read = parsed(patch)
    wanted = {c.key: c.value for c in patch.changes if not c.remove}
    if patch.format == "flags":
        assert {k: v if v is True else " ".join(v) for k, v in read.items()} == {
            k: v if v is True else str(v) for k, v in wanted.items()
        }
    else:
        assert read == wanted


def test_the_table_is_whole() -> None:
    assert FRAMEWORKS == ["areal", "nemo_rl", "openrlhf", "prime_rl", "skyrl", "slime", "trl", "verl"]
    assert all(e.format in FORMATS and e.source and e.set for e in entries())
    assert all(bool(e.call) == (e.format == "kwargs") for e in entries())
    assert all(not e.before or release(e.since) < release(e.before) for e in entries())
    seen = {(p.framework, p.kind, p.versions, p.call) for p in PATCHES}
    assert len(seen) == len(entries())


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("kind", sorted(kinds()))
def test_versions_of_one_remedy_do_not_overlap(framework: str, kind: str) -> None:
    mine = [e for e in entries() if e.framework == framework and e.kind == kind]
    for one, two in pairwise(mine):
        if one.algorithm == two.algorithm:
            assert one.before
            assert release(one.before) <= release(two.since)


def test_every_kind_that_a_cause_asks_for_exists_and_is_asked_for() -> None:
    asked = {fix.patch for cause in all_causes() for fix in cause.fixes if fix.patch}
    assert asked == kinds()


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("v1.0.0", "behav_imp_weight_cap"),
        ("1.0.3", "behave_imp_weight_cap"),
        ("1.0.4+17", "rejection_sampling.upper"),
        ("2.0", "rejection_sampling.upper"),
    ],
)
def test_the_stated_version_chooses_the_keys_of_areal(version: str, key: str) -> None:
    (patch,) = patches_for("behaviour-cap", run("areal", areal_version=version))
    assert any(c.key == f"actor.{key}" for c in patch.changes)


@pytest.mark.parametrize(
    ("version", "there"), [("v0.4.1", True), ("v0.5.1", True), ("v0.5.2", False), ("v1.0.4", False)]
)
def test_areal_filters_groups_by_a_setting_only_before_a_function_did(version: str, there: bool) -> None:
    log = run("areal", areal_version=version)
    assert bool(patches_for("dynamic-filter", log)) == there
    (masked,) = patches_for("mask-truncated", log)
    assert masked.changes[0].key == "actor.mask_no_eos_with_zero"


def test_a_version_before_the_keys_gets_nothing() -> None:
    assert patches_for("behaviour-cap", run("trl", trl_version="0.20.0")) == ()


def test_keys_of_the_run_tell_the_version() -> None:
    (old,) = patches_for("behaviour-cap", run("areal", **{"actor.behave_imp_weight_cap": 10.0}))
    assert "before v1.0.4" in old.versions
    (new,) = patches_for("behaviour-cap", run("areal", **{"actor.rejection_sampling.upper": 2.0}))
    assert new.versions == "from v1.0.4"
    assert "-    upper: 2.0" in new.lines
    assert "+    upper: 5.0" in new.lines


def test_without_a_version_every_variant_is_shown_newest_first() -> None:
    shown = patches_for("behaviour-cap", run("areal"))
    assert [p.versions.split()[0] for p in shown] == ["from", "v1.0.1", "v0.3.4"]


@pytest.mark.parametrize("framework", ["", "ragen", "somebody_else"])
def test_nothing_is_shown_for_an_unknown_framework(framework: str) -> None:
    assert all(patches_for(kind, run(framework)) == () for kind in kinds())


@pytest.mark.parametrize(
    ("framework", "version", "kind", "key"),
    [
        ("trl", "1.16.0", "sequence-ratio", "importance_sampling_level"),
        ("openrlhf", "0.9.9", "sequence-ratio", "policy_loss_type"),
        ("openrlhf", "0.11.0", "sequence-ratio", "actor.policy_loss_type"),
        ("nemo_rl", "0.6.0", "sequence-ratio", "loss_fn.sequence_level_importance_ratios"),
        ("nemo_rl", "0.7.0", "deterministic-moe", "policy.router_replay.enabled"),
    ],
)
def test_moe_routing_has_a_remedy_where_the_framework_has_one(
    framework: str, version: str, kind: str, key: str
) -> None:
    """Replayed routing where it exists; else GSPO's ratio. Neither is offered as the other."""
    log = run(framework, **{f"{framework}_version": version})
    (patch,) = patches_for(kind, log)
    assert patch.changes[0].key == key
    other = {"sequence-ratio": "deterministic-moe", "deterministic-moe": "sequence-ratio"}[kind]
    assert patches_for(other, log) == ()


def test_unsloth_is_configured_as_trl_is() -> None:
    assert patches_for("mask-truncated", run("unsloth"))[0].lines == (
        " GRPOConfig(",
        "+    mask_truncated_completions=True,",
        " )",
    )


def test_what_is_already_so_is_left_out() -> None:
    assert patches_for("mask-truncated", run("trl", mask_truncated_completions="True")) == ()
    (patch,) = patches_for("synchronous", run("areal", **{"rollout.max_head_offpolicyness": 0}))
    assert [c.key for c in patch.changes] == ["actor.recompute_logprob", "actor.use_decoupled_loss"]
    assert patches_for("synchronous", run("openrlhf")) == ()


def test_a_setting_that_cannot_be_computed_is_left_out() -> None:
    (patch,) = patches_for("fewer-minibatches", run("trl"))
    assert [c.key for c in patch.changes] == ["num_iterations"]
    (patch,) = patches_for("fewer-minibatches", run("trl", gradient_accumulation=8))
    assert patch.changes[1].value == 8


def test_an_old_value_that_is_no_plain_word_is_not_repeated() -> None:
    log = run("trl", loss_type="<script>\x1b[31m grpo")
    (patch,) = patches_for("length-neutral-loss", log)
    assert not any("script" in line for line in patch.lines)


def test_version_of_reads_what_the_configuration_states() -> None:
    assert version_of(run("trl", trl_version="1.16.0")) == "1.16.0"
    assert version_of(run("nemo_rl", **{"env/nemo-rl-version": "0.5.0"})) == "0.5.0"
    assert version_of(run("trl", transformers_version="5.0")) == ""


def test_release_ignores_what_follows_the_numbers() -> None:
    assert release("v1.0.4+17") == (1, 0, 4)
    assert release("1.0") == release("1") == (1,)
    assert release("main") == ()


def test_the_reports_show_the_patch() -> None:
    config = {"max_staleness": 4, "rollout.max_head_offpolicyness": 4}
    sick = synth.like("GRPO", framework="areal", config=config)({"async/staleness_mean": synth.jump(1.0, 9.0)})
    diagnosis = diagnose_log(sick, Settings())
    block = " rollout:\n-  max_head_offpolicyness: 4\n+  max_head_offpolicyness: 0"
    assert block in markdown.render([diagnosis])
    assert block in html.fragment(diagnosis)
    full = text.render([diagnosis], full=True)
    assert all(f"          {line}\n" in full for line in block.split("\n"))
    (made,) = [
        p for r in diagnosis.to_dict()["causes"][0]["remedies"] for p in r["patches"] if p["kind"] == "synchronous"
    ]
    assert made["set"][0] == {"key": "rollout.max_head_offpolicyness", "value": 0, "remove": False, "old": 4}


@pytest.mark.parametrize("framework", ["areal", "verl", "openrlhf", "slime", "nemo_rl"])
def test_a_longer_limit_is_never_a_shorter_one(framework: str) -> None:
    entry = next(e for e in entries() if (e.kind, e.framework) == ("longer-responses", framework))
    key = entry.set[0][0]
    log = run(framework, **{key: "8192", f"{framework}_version": entry.since or "99"})
    (patch,) = patches_for("longer-responses", log)
    assert patch.changes[-1].value == 16384
    assert "does not state its limit" not in patch.note


def test_a_limit_that_is_not_known_is_called_a_guess() -> None:
    (patch,) = patches_for("longer-responses", run("areal", areal_version="1.0.4"))
    assert patch.note.startswith("The run does not state its limit")
    assert "does not state its limit" in patch.title


@pytest.mark.parametrize(("key", "wanted"), [("async_train", "v0.9.0"), ("train.async_enable", "from v0.10.2")])
def test_a_key_of_one_version_tells_of_it_for_every_remedy(key: str, wanted: str) -> None:
    log = run("openrlhf", **{key: True})
    for kind in ("behaviour-cap", "longer-responses", "synchronous"):
        (patch,) = patches_for(kind, log)
        assert patch.versions.startswith(wanted), kind
