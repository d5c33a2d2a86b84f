"""Small question sets that come with firstbreak, one for each kind of answer."""

from __future__ import annotations

from .rows import Question

_NUMBERS = (
    ("What is 17 + 25?", "42"), ("What is 50 - 63?", "-13"), ("What is 25 * 50?", "1250"), ("What is 144 / 12?", "12"),
    ("What is 9 * 8?", "72"), ("What is 1000 + 2048?", "3048"), ("What is 7 - 30?", "-23"),
    ("What is 365 * 24?", "8760"),
    ("What is 81 + 19 + 5?", "105"), ("What is 2 to the power of 14?", "16384"), ("What is 6 * 6?", "36"),
    ("What is 500 - 1750?", "-1250"),
)  # fmt: skip
_FRACTIONS = (
    ("What is 1 divided by 2?", "1/2"), ("What is 3 divided by 4?", "3/4"), ("What is 2/5 + 1/5?", "3/5"),
    ("What is 1/4 - 3/4?", "-1/2"), ("What is half of 1/4?", "1/8"), ("What is 7/10 + 2/10?", "9/10"),
    ("What is 5/4 as a fraction of one?", "5/4"), ("What is 1/5 of 1/4?", "1/20"),
)  # fmt: skip
_CHOICES = (
    ("Which is a planet?", ("Sirius", "Mars", "the Moon", "Vega"), "B"),
    ("Which number is prime?", ("13", "15", "21", "27"), "A"),
    ("Which is a mammal?", ("trout", "newt", "bat", "robin"), "C"),
    ("Which metal is liquid at room temperature?", ("iron", "tin", "zinc", "mercury"), "D"),
    ("Which is the largest?", ("0.9", "1.1", "1.01", "0.99"), "B"),
    ("Which gas do plants take in?", ("carbon dioxide", "helium", "neon", "argon"), "A"),
    ("Which ocean is the largest?", ("Arctic", "Indian", "Pacific", "Atlantic"), "C"),
    ("Which is not a colour?", ("red", "blue", "green", "seven"), "D"),
)
_YES_NO = (
    ("Is 7 a prime number?", "yes"), ("Is 9 a prime number?", "no"), ("Is Mars a planet?", "yes"),
    ("Is 3 larger than 5?", "no"), ("Does ice float on water?", "yes"), ("Is 20 divisible by 3?", "no"),
    ("Is a whale a mammal?", "yes"), ("Is the Sun a planet?", "no"),
)  # fmt: skip
_SETS = (
    ("Which primes are below 6?", "{2, 3, 5}"), ("Which whole numbers solve x^2 = 9?", "{-3, 3}"),
    ("Which divisors has 10?", "{1, 2, 5, 10}"), ("Which even numbers lie between 3 and 9?", "{4, 6, 8}"),
    ("Which whole numbers solve x^2 = x?", "{0, 1}"), ("Which squares lie between 10 and 40?", "{16, 25, 36}"),
)  # fmt: skip
_NAMES = (
    ("What is the capital of France?", "Paris"), ("Who wrote Hamlet?", "William Shakespeare"),
    ("What is the longest river of Africa?", "Nile"), ("Which element has the symbol Fe?", "Iron"),
    ("What is the capital of Brazil?", "Brasília"), ("Who formulated the laws of motion?", "Isaac Newton"),
    ("Which planet has the large red spot?", "Jupiter"), ("What is the capital of Japan?", "Tokyo"),
)  # fmt: skip
_DATES = (
    ("On which day was the first landing on the Moon?", "1969-07-20"), ("Which day follows 2024-02-28?", "2024-02-29"),
    ("Which day comes before 2021-01-01?", "2020-12-31"), ("Which day is a week after 2023-03-05?", "2023-03-12"),
    ("On which day did the Berlin wall fall?", "1989-11-09"), ("Which day follows 2022-05-03?", "2022-05-04"),
)  # fmt: skip
_UNITS = (
    ("How far is it at 6 km/h for 2 hours?", "12 km"), ("How long are 300 cm in metres?", "3 m"),
    ("What do 4 bags of 5 kg weigh?", "20 kg"), ("How far is it at 100 m/s for 15 s?", "1500 m"),
    ("How long are two quarters of an hour?", "30 min"), ("What is left of 10 kg after 4 kg are taken?", "6 kg"),
)  # fmt: skip
_CODE = (
    ("Write a function add(a, b) that returns the sum.", "assert add(2, 3) == 5\nassert add(-1, 1) == 0",
     "def add(a, b):\n    return a + b", "def add(a, b):\n    return a - b"),
    ("Write a function double(x) that returns twice x.", "assert double(4) == 8\nassert double(0) == 0",
     "def double(x):\n    return 2 * x", "def double(x):\n    return x * x"),
    ("Write a function first(items) that returns the first item.",
     "assert first([3, 1]) == 3\nassert first('ab') == 'a'",
     "def first(items):\n    return items[0]", "def first(items):\n    return items[-1]"),
    ("Write a function is_even(n).", "assert is_even(4) == True\nassert is_even(7) == False",
     "def is_even(n):\n    return n % 2 == 0", "def is_even(n):\n    return True"),
)  # fmt: skip


def _of(pairs: tuple[tuple[str, str], ...], kind: str) -> list[Question]:
    return [Question(prompt, answer, kind) for prompt, answer in pairs]


def _choice(prompt: str, options: tuple[str, ...], answer: str) -> Question:
    listed = "\n".join(f"{letter}) {option}" for letter, option in zip("ABCD", options, strict=True))
    return Question(f"{prompt}\n{listed}", answer, "choice")


TASKS: dict[str, list[Question]] = {
    "arithmetic": _of(_NUMBERS, "number"),
    "fractions": _of(_FRACTIONS, "number"),
    "choice": [_choice(*c) for c in _CHOICES],
    "yes_no": _of(_YES_NO, "yes_no"),
    "sets": _of(_SETS, "set"),
    "names": _of(_NAMES, "text"),
    "dates": _of(_DATES, "date"),
    "units": _of(_UNITS, "unit"),
    "code": [Question(prompt, tests, "code", (good,), (bad,)) for prompt, tests, good, bad in _CODE],
}
"""Task -> questions. Engineering default: enough rows for an interval, few enough for a costly judge."""
