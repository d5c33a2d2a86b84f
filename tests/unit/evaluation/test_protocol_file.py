"""Protocol files: what is refused and how, what the hash depends on, what a difference names."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.cli.eval_protocol import KINDS
from firstbreak.errors import ConfigError, FirstbreakError, UnknownNameError, UnreadableError
from firstbreak.evaluation.protocol.fields import FILL_IN, SECTIONS
from firstbreak.evaluation.protocol.protocol import (
    DifferentProtocolsError,
    differences,
    example,
    from_canonical,
    of,
    read,
    same_or_refuse,
)

LANGUAGE = {
    "evaluation": {"name": "m", "dataset": "d", "metric": "x", "episodes": 3},
    "generation": {"temperature": 0.6, "top_p": 0.95, "max_tokens": 100, "template": "t"},
}


def changed(**generation: object) -> dict[str, dict[str, object]]:
    return {**LANGUAGE, "generation": {**LANGUAGE["generation"], **generation}}


@pytest.mark.parametrize("kind", KINDS)
def test_the_examples_are_protocols_with_and_without_their_comments(kind: str, tmp_path: Path) -> None:
    file, filled = tmp_path / "p.toml", example(KINDS[kind]).replace(FILL_IN, "mine")
    file.write_text(filled)
    assert read(file).open_fields
    file.write_text("\n".join(line.removeprefix("# ") if "=" in line else line for line in filled.splitlines()[2:]))
    assert read(file).open_fields == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_example_that_was_not_filled_in_is_no_protocol(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(example(KINDS[kind]))
    with pytest.raises(ConfigError, match=r"evaluation\.name, evaluation\.dataset.*hold no value yet"):
        read(file)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("sha256:4be2...", "generation.template holds no value yet"),
        ("SHA256:…", "generation.template holds no value yet"),
        ("fill in: the template", "generation.template holds no value yet"),
        ("sha256:4be2", ""),  # short, but somebody's
        ("Answer: ...", ""),
        ("Please fill in the gap.", ""),
    ],
)
def test_a_fingerprint_that_was_cut_short_is_none(template: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    rows = [f"[{s}]\n" + "".join(f"{n} = {json.dumps(v)}\n" for n, v in f.items()) for s, f in LANGUAGE.items()]
    file.write_text("".join(rows).replace('template = "t"', f"template = {json.dumps(template)}"))
    if not said:
        assert read(file).values["generation"]["template"] == template
        return
    with pytest.raises(ConfigError, match=said):
        read(file)


def test_a_protocol_says_which_scores_are_better() -> None:
    assert not of(LANGUAGE).lower
    lower = of({**LANGUAGE, "evaluation": {**LANGUAGE["evaluation"], "better": "lower"}})
    assert lower.lower
    assert lower.hash != of(LANGUAGE).hash
    with pytest.raises(ConfigError, match=r"evaluation\.better"):
        of({**LANGUAGE, "evaluation": {**LANGUAGE["evaluation"], "better": "smaller"}})


@pytest.mark.parametrize(
    ("generation", "message"),
    [
        ({"temperature": -1}, "at least 0"),
        ({"temperature": "hot"}, "not a number"),
        ({"temperature": True}, "not a number"),
        ({"temperature": float("nan")}, "not a number"),
        ({"top_p": 1.5}, "between 0 and 1"),
        ({"max_tokens": 10.5}, "not a whole number"),
        ({"max_tokens": 0}, "at least 1"),
        ({"stop": "###"}, "not a list"),
        ({"stop": [1]}, "not a text"),
        ({"samples": 4, "pass_at": [1, 8]}, "pass@8 cannot be estimated from 4"),
    ],
)
def test_wrong_values_are_named(generation: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        of(changed(**generation))


def test_unknown_names_are_answered_with_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="max_tokens"):
        of(changed(max_token=5))
    with pytest.raises(UnknownNameError, match="generation"):
        of({**LANGUAGE, "generatoin": {}})
    control = {"environment": "Ant-v5", "environment_version": "1", "action_mode": "determinstic", "normaliser": "none"}
    with pytest.raises(ConfigError, match="deterministic"):
        of({"evaluation": LANGUAGE["evaluation"], "control": control})


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ConfigError, match=r"generation\.top_p is missing"):
        of({**LANGUAGE, "generation": {k: v for k, v in LANGUAGE["generation"].items() if k != "top_p"}})
    with pytest.raises(ConfigError, match=r"evaluation\.name"):
        of({})


@given(st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=20)
def test_the_hash_depends_on_values_alone(source: random.Random) -> None:
    sections = [(name, list(fields.items())) for name, fields in LANGUAGE.items()]
    source.shuffle(sections)
    for _, fields in sections:
        source.shuffle(fields)
    assert of({name: dict(fields) for name, fields in sections}).hash == of(LANGUAGE).hash


def test_every_field_changes_the_hash() -> None:
    one = of(LANGUAGE)
    assert of(changed(temperature=1)).hash == of(changed(temperature=1.0)).hash != one.hash
    for name, field in SECTIONS["generation"].items():
        if name not in LANGUAGE["generation"] and name not in ("pass_at",):
            assert of(changed(**{name: field.example})).hash != one.hash, name
    assert from_canonical(one.canonical) == one


def test_differences_are_named_and_comparison_refused() -> None:
    one, other = of(LANGUAGE), of(changed(temperature=1.0, top_k=5))
    assert set(differences(one, other)) == {"generation.temperature", "generation.top_k"}
    with pytest.raises(DifferentProtocolsError, match=r"generation\.temperature \(0\.6 against 1\.0\)"):
        same_or_refuse(one, other)
    same_or_refuse(one, of(json.loads(one.canonical)))


@given(st.binary(max_size=300))
@settings(deadline=None, max_examples=80)
def test_any_file_is_a_protocol_or_a_clear_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_bytes(data)
    with pytest.raises(FirstbreakError):
        read(file)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="init"):
        read(tmp_path / "none.toml")
