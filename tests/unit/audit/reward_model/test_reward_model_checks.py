"""Each check of reward models: a model that has the fault, and a sound one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from firstbreak.audit.reward_model.pairs import Golden
from firstbreak.audit.reward_model.record import Scored
from firstbreak.check import Look, look_at_all
from firstbreak.finding import Severity
from firstbreak.inspection import inspection

from .made_pairs import pairs, scored, scorers


def looks(seen: Scored) -> dict[str, Look]:
    with np.errstate(all="ignore"):
        found = {look.check: look for look in look_at_all("reward-model", seen)}
    assert not [look for look in found.values() if look.error]
    return found


def fired(seen: Scored) -> set[str]:
    return {
        f.name for f in inspection("reward-model", "x", list(looks(seen).values())).findings if not f.consequence_of
    }


@pytest.mark.parametrize("seed", range(4))
def test_a_sound_model_has_no_findings(seed: int) -> None:
    assert fired(scored("sound", pairs(seed=seed))) == set()


@pytest.mark.parametrize(
    ("scorer", "finding"),
    [
        ("reversed_sign", "preferences-reversed"),
        ("loves_length", "length-decides-preference"),
        ("likes_lists", "style-moves-score"),
        ("reads_the_end", "blank-line-moves-score"),
        ("constant", "model-scores-constant"),
        ("rounded", "model-scores-tied"),
        ("clipped", "model-scores-saturated"),
        ("noisy", "model-score-not-repeatable"),
        ("depends_on_batch", "model-score-not-repeatable"),
        ("sometimes_nan", "model-scores-not-finite"),
        ("certain", "model-overconfident"),
    ],
)
def test_a_fault_is_named(scorer: str, finding: str) -> None:
    assert finding in fired(scored(scorer))


def test_length_is_an_error_when_it_beats_the_labels() -> None:
    symptom = looks(scored("loves_length"))["length-decides-preference"].symptom
    assert symptom is not None
    assert symptom.severity is Severity.ERROR
    assert float(symptom.evidence["coefficient_low"]) > 1


def test_a_model_that_pays_length_is_not_reversed_though_the_rejected_side_is_usually_longer():
    made = [pair for i, pair in enumerate(pairs(600)) if len(pair.chosen) < len(pair.rejected) or i % 3 == 0]
    assert sum(len(p.chosen) < len(p.rejected) for p in made) > 0.6 * len(made)
    found = fired(scored("loves_length", made))
    assert "length-decides-preference" in found
    assert "preferences-reversed" not in found


def test_one_category_with_swapped_labels_is_named() -> None:
    seen = looks(scored("sound", pairs(reversed_in="chat")))
    symptom = seen["category-reversed"].symptom
    assert symptom is not None
    assert symptom.evidence["category"] == "chat"
    assert symptom.evidence["categories_reversed"] == 1
    assert seen["preferences-reversed"].symptom is None


def one_sided(shorter_in: str, scores: str = "loves_length") -> Scored:
    """Pairs whose chosen side is the longer one, but for one category, in which it is always the shorter one."""
    made = [
        replace(p, chosen=a, rejected=b)
        for p in pairs(300)
        for a, b in [sorted((p.chosen, p.rejected), key=len, reverse=p.subset != shorter_in)]
        if len(a) != len(b)
    ]
    return scored(scores, made)


def test_a_category_that_length_would_lose_too_is_no_certain_swap() -> None:
    seen = looks(one_sided("safety"))
    symptom = seen["category-reversed"].symptom
    assert symptom is not None
    assert symptom.severity is Severity.WARNING
    assert "as by length" in symptom.message
    assert symptom.evidence["categories_of_one_length"] == 1
    assert seen["length-decides-preference"].symptom is not None


def test_a_swapped_category_of_mixed_lengths_stays_an_error_beside_a_model_that_likes_length_elsewhere() -> None:
    """A near miss: most, but not nearly all, of its chosen sides are the shorter ones."""
    made = [p for i, p in enumerate(pairs(900, reversed_in="chat")) if len(p.chosen) < len(p.rejected) or i % 2]
    symptom = looks(scored("sound", made))["category-reversed"].symptom
    assert symptom is not None
    assert symptom.severity is Severity.ERROR
    assert "length" not in symptom.message


def test_a_hard_category_near_one_half_is_no_reversed_one() -> None:
    made = pairs(600)
    seen = scored("sound", made)
    even = Scored("x", seen.pairs, np.where(np.arange(600) % 2, 0.48, 0.52), np.full(600, 0.5))
    assert fired(even) == {"preferences-at-chance"}


def golden(count: int) -> list[Golden]:
    return [Golden(p.prompt, p.chosen, scorers().quality(p.chosen)) for p in pairs(count)]


def test_drift_on_golden_responses() -> None:
    made = golden(40)
    assert "golden-scores-drifted" not in fired(scored("sound", golden=made))
    moved = [Golden(g.prompt, g.response, g.before - 1.0) for g in made]
    assert "golden-scores-drifted" in fired(scored("sound", golden=moved))
    swapped = looks(scored("reversed_sign", golden=made))["golden-scores-drifted"].symptom
    assert swapped is not None
    assert swapped.severity is Severity.ERROR
    assert swapped.evidence["rank_correlation"] == pytest.approx(-1.0)


def test_without_golden_responses_and_with_few_pairs_it_says_what_to_give() -> None:
    seen = looks(scored("sound", pairs(12)))
    for name in ("golden-scores-drifted", "preferences-reversed", "category-reversed"):
        skip = seen[name].skip
        assert skip is not None
        assert skip.unlock_with
    assert all(look.symptom is None for look in seen.values())
