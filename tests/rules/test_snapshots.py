"""No rule vanishes or starts to fire on another's case unseen: the snapshots are reviewed in the diff."""

from __future__ import annotations

import json

from tests.rules.snapshots import LISTING, SPECIFICITY, listing, specificity

ADVICE = "If this is meant, run `make update-listing` and review the difference before committing."


def test_the_listing_of_rules_is_the_reviewed_one() -> None:
    assert LISTING.read_text("utf-8") == listing(), ADVICE


def test_rules_fire_on_the_cases_of_others_only_where_reviewed() -> None:
    assert json.loads(SPECIFICITY.read_text("utf-8")) == specificity(), ADVICE
