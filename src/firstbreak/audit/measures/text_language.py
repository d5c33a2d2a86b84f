"""Which script and language a response is in, beside its prompt's."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from typing import cast

from ..characters import ascii_letters, by_script, letters_of
from ..measure import Values, measure
from ..seen import Asked, Seen

COLUMNS = {
    "text/scripts": "scripts that hold at least 5 % of the letters of the response",
    "text/main_script_frac": "share of the letters that are of the commonest script",
    "text/foreign_script_frac": "share of the letters that are of scripts the prompt does not use",
    "text/other_language": "1 where response and prompt are in different languages, 0 where in the same",
}
NAN = float("nan")
FEWEST_LETTERS = 10
"""Fewer letters of a prompt say nothing of its script. Engineering default."""
FEWEST_WORDS = 20
"""Fewer words say nothing of the language. Engineering default."""
LEAST_SHARE = 0.08
"""Share of words that must be function words of a language; running text has a third to a half. Engineering
default."""
LEAD = 1.5
"""How many times as many as those of the next language. Engineering default."""
FUNCTION_WORDS: dict[str, str] = {
    "en": "the of and is that to it for with this we are you be have not as which from by an what can will",
    "de": "der die das und ist nicht ein eine den mit zu wir von auf dem sie es für wird auch sich dass im",
    "fr": "le la les et est des une un que pour dans nous pas sur avec qui du ce sont il donc au par",
    "es": "el la los las y es una un que para en por con se del no lo como más su al entonces son",
    "it": "il di che è per una un non con della sono si gli nel la le del questo anche dei alla come",
    "pt": "o de que e é uma um para não com os as do da em se por mais como são ao dos isso",
    "nl": "de het een van en is dat niet op te voor met zijn er aan wij deze door om bij ook",
}
"""The commonest function words of languages in Latin script."""
_SPEAKS: dict[str, str] = {}
for _letter, _words in zip("edfsipn", FUNCTION_WORDS.values(), strict=True):
    for _word in _words.split():
        _SPEAKS[_word] = _SPEAKS.get(_word, "") + _letter
_LANGUAGES = dict(zip("edfsipn", FUNCTION_WORDS, strict=True))


@measure(COLUMNS)
def language(seen: Seen) -> Values:
    """Compare the scripts and, where both can be told, the languages of response and prompt."""
    if seen.codes is None:
        latin = ascii_letters(seen.data)
        letters: Mapping[str, int] = {"Latin": latin} if latin else {}
    else:
        letters = by_script(*seen.codes)
    if not letters:
        return 0.0, NAN, NAN, NAN
    foreign = foreign_frac(letters, scripts_of_prompt(seen.asked))
    there = language_of_prompt(seen.asked)
    here = language_of(seen.words, letters) if there else ""
    other = float(there != here) if here else NAN
    if len(letters) == 1:
        return 1.0, 1.0, foreign, other
    total = sum(letters.values())
    return sum(n >= 0.05 * total for n in letters.values()), max(letters.values()) / total, foreign, other


def foreign_frac(letters: Mapping[str, int], asked: Mapping[str, int]) -> float:
    """Return the share of `letters` that are of scripts absent from what was asked; NaN where that is too short."""
    if len(letters) == 1 and asked.get(next(iter(letters)), 0) >= FEWEST_LETTERS:
        return 0.0
    if sum(asked.values()) < FEWEST_LETTERS:
        return NAN
    return sum(n for name, n in letters.items() if name not in asked) / sum(letters.values())


def scripts_of_prompt(asked: Asked) -> Mapping[str, int]:
    """Return the letters of each script in the prompt."""
    if "scripts" not in asked.known:
        asked.known["scripts"] = letters_of(asked.text)
    return cast("Mapping[str, int]", asked.known["scripts"])


def language_of_prompt(asked: Asked) -> str:
    """Return the language of the prompt, empty where it cannot be told."""
    if "language" not in asked.known:
        asked.known["language"] = language_of(asked.words, scripts_of_prompt(asked))
    return str(asked.known["language"])


def language_of(words: list[str], letters: Mapping[str, int]) -> str:
    """Return the language of a text: by function words in Latin script, elsewhere by the script; empty if unsure."""
    if len(words) < FEWEST_WORDS or not letters:
        return ""
    main = max(letters, key=lambda name: letters[name])
    if main in {"Han", "Kana"}:
        return "ja" if letters.get("Kana", 0) > 0.1 * letters[main] else "zh"
    if main != "Latin":
        return main
    spoken = "".join(map(_SPEAKS.get, words, repeat("")))
    (second, _), (most, letter) = sorted([(spoken.count(letter), letter) for letter in "edfsipn"])[-2:]
    return _LANGUAGES[letter] if most >= LEAST_SHARE * len(words) and most >= LEAD * second else ""
