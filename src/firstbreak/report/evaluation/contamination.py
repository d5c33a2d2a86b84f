"""Contamination as text and as plain data."""

from __future__ import annotations

from typing import Any

from ...evaluation.contamination.result import Contamination, Match
from ..clean import plain
from ..page import Page
from ..words import count, duration

KINDS: dict[str, str] = {
    "exact": "the very text",
    "normalised": "the same words",
    "near": "near duplicates",
    "shared": "long runs of words shared",
}
LABELS = {"normalised": "words"}
"""Kinds whose names are too long to stand before a line."""
NONE = {
    "exact": "no prompt word for word",
    "normalised": "no prompt in the same words",
    "shared": "no prompt with half of its long runs of words",
}
"""What is said where nothing of a kind was found, where "no" and its words would say too much."""
LISTED = 10
"""Matches of a kind that the text lists; JSON lists all."""


def data(found: Contamination, *, examples: int = 0) -> dict[str, Any]:
    """Return the document for programs."""
    listed = [_match(m) for m in found.matches]
    for kind in KINDS if examples else ():
        for match, row in [(m, r) for m, r in zip(found.matches, listed, strict=True) if m.kind == kind][:examples]:
            row["prompt"] = plain(match.prompt)
    return {
        "verdict": {"found": "broken", "none": "healthy", "undecided": "undecided"}[found.outcome],
        "contamination": {
            "matches": listed,
            "leaks": [{"file": f, "row": r, "kind": k} for f, r, k in found.leaks],
            "counts": {kind: len(found.of(kind)) for kind in KINDS},
            "found_frac": found.found_frac,
            "train_matched_rows": found.train_matched,
            "threshold": found.threshold,
            "gram_words": found.gram,
        },
        "coverage": {
            "eval_rows": found.eval_rows,
            "eval_prompts": found.eval_prompts,
            "eval_answers": found.answers,
            "train_rows": found.train_rows,
            "train_without_prompt_rows": found.train_without_prompt,
            "unreadable_rows": {"train": found.unreadable_rows[0], "eval": found.unreadable_rows[1]},
            "not_utf8_rows": {"train": found.not_utf8_rows[0], "eval": found.not_utf8_rows[1]},
            "eval_too_short_for_near": found.short,
            "eval_too_short_for_shared": found.without_grams,
            "eval_quoted": found.quoted,
            "template_runs": found.template_runs,
            "train_crowded_rows": found.crowded,
        },
    }


def _match(match: Match) -> dict[str, Any]:
    return {
        "kind": match.kind,
        "eval_file": match.eval_file,
        "eval_row": match.eval_row,
        "train_file": match.train_file,
        "train_row": match.train_row,
        "similarity": match.similarity,
        "train_rows": match.train_rows,
        "answered_rows": match.answered_rows,
    }


def draw(page: Page, found: Contamination, seconds: float, *, examples: int = 0) -> None:
    """Draw the answer."""
    seen = sum(m.kind != "shared" for m in found.matches)
    page.line(
        f"{seen:,} of {count(found.eval_prompts, 'evaluation prompt')} ({found.found_frac:.2%}) in "
        f"{count(found.train_rows, 'training row')}; compared in {duration(seconds)}",
        style="bold",
    )
    if found.outcome == "undecided":
        page.entry("blind", f"cannot say that the data is clean: {found.blind_frac:.0%} of the rows of one side hold "
                   "no prompt under a known name (--column prompt=NAME)")  # fmt: skip
    for kind, words in KINDS.items():
        _kind(page, kind, words, found.of(kind), examples)
    _answers(page, found)
    _coverage(page, found)
    if seen:
        page.entry("next", f"Take the {count(found.train_matched, 'training row')} out, or report seen and unseen "
                   "prompts apart; scores on seen prompts measure memory.")  # fmt: skip


def _kind(page: Page, kind: str, words: str, matches: list[Match], examples: int) -> None:
    if not matches:
        page.entry(LABELS.get(kind, kind), NONE.get(kind, f"no {words}"))
        return
    page.entry(LABELS.get(kind, kind), f"{count(len(matches), 'evaluation prompt')}: {words}")
    best = sorted(matches, key=lambda m: (-m.similarity, m.eval_file, m.eval_row))
    for match in best[: max(LISTED, examples)]:
        answered = f", {match.answered_rows:,} with its answer" if match.answered_rows else ""
        more = f" and {match.train_rows - 1:,} more{answered}" if match.train_rows > 1 else answered
        page.entry(
            "",
            f"{plain(match.eval_file, 60)} row {match.eval_row:,} - {plain(match.train_file, 60)} row "
            f"{match.train_row:,}{more}, similarity {match.similarity:.2f}",
        )
        if examples > 0:
            page.entry("", plain(match.prompt, 200), indent=2, most=3, style="dim")
            examples -= 1
    if len(matches) > LISTED:
        page.entry("", f"and {len(matches) - LISTED:,} more; --format json lists all")


def _answers(page: Page, found: Contamination) -> None:
    if not found.answers:
        page.entry("answers", "cannot look: no answers under a known name (--column answer=NAME)")
        return
    with_answer = sum(m.answered_rows > 0 for m in found.matches)
    text = f"{count(with_answer, 'matched prompt')} with the evaluation's answer beside it in training"
    page.entry("answers", text)
    if found.leaks:
        rows = ", ".join(f"{row:,}" for _, row, _ in found.leaks[:LISTED])
        more = f" and {len(found.leaks) - LISTED:,} more" if len(found.leaks) > LISTED else ""
        gives = "gives its own answer away: row" if len(found.leaks) == 1 else "give their own answers away: rows"
        page.entry("", f"{count(len(found.leaks), 'evaluation prompt')} {gives} {rows}{more}")
        if len(found.leaks) > 0.5 * found.answers:
            page.entry("", "That is most of them: where the task is to find the answer in the text, it is meant so.")


def _coverage(page: Page, found: Contamination) -> None:
    notes = [
        (found.eval_rows - found.eval_prompts, "evaluation row", "without a prompt"),
        (found.train_without_prompt, "training row", "without a prompt"),
        (sum(found.unreadable_rows), "row", "that could not be read"),
        (sum(found.not_utf8_rows), "row", "with bytes that are not UTF-8, read with replacements"),
        (found.short, "evaluation prompt", "too short, but for a template, to be compared nearly"),
        (found.without_grams, "evaluation prompt", f"too short to share {found.gram} words on end"),
        (
            found.quoted,
            "evaluation prompt",
            f"with {found.gram} words on end in training, but less than half of theirs",
        ),
        (found.template_runs, "run of words", "taken for a template and left out"),
        (found.crowded, "training row", "alike to so many evaluation prompts that only some were compared in full"),
    ]
    for n, one, words in notes:
        if n:
            many = "runs of words" if one == "run of words" else ""
            page.entry("note", f"{count(n, one, many)} {words}")
