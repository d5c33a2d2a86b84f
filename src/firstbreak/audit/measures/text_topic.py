"""How much a response takes up of what was asked, and whether it is made of sentences."""

from __future__ import annotations

from ..measure import Values, measure
from ..seen import Asked, Seen

COLUMNS = {
    "text/prompt_words_frac": "share of the response's different long words that the prompt holds too",
    "text/prompt_taken_up_frac": "share of the prompt's different long words that the response holds too",
    "text/commas_frac": "commas for each word of the response",
}
LONG = 4
"""Letters from which a word counts: shorter ones are mostly function words. Engineering default."""
NAN = float("nan")


@measure(COLUMNS)
def topic(seen: Seen) -> Values:
    """Compare the long words of prompt and response, and count commas."""
    theirs = _of_prompt(seen.asked)
    mine = {w for w in seen.distinct if len(w) >= LONG}
    shared = len(mine & theirs)
    return (
        shared / len(mine) if mine and theirs else NAN,
        shared / len(theirs) if theirs else NAN,
        seen.text.count(",") / len(seen.words) if seen.words else NAN,
    )


def _of_prompt(asked: Asked) -> set[str]:
    found = asked.known.get("long words")
    if not isinstance(found, set):
        found = {w for w in asked.words if len(w) >= LONG}
        asked.known["long words"] = found
    return found  # pyright: ignore[reportUnknownVariableType]
