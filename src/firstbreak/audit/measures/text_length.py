"""How long a response is."""

from __future__ import annotations

from ..measure import Values, measure
from ..seen import Seen

COLUMNS = {
    "text/characters": "length of the response, characters",
    "text/words": "length of the response, words (estimated beyond 65,536 characters)",
    "text/empty": "1 where the response holds no word, else 0",
    "text/characters_per_token": "characters for each token, where the log gives the length in tokens",
}


@measure(COLUMNS)
def length(seen: Seen) -> Values:
    """Measure the length."""
    characters = len(seen.sample.response)
    words = float(len(seen.words))
    if characters > len(seen.text):
        words *= characters / len(seen.text)
    tokens = seen.sample.length_tokens
    return characters, words, float(words == 0), characters / tokens if tokens > 0 else float("nan")
