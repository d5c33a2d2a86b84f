"""The 32 symbols that the tiny language model reads and writes; one token is one character."""

from __future__ import annotations

from collections.abc import Iterable

PAD, BOS, EOS = 0, 1, 2
DIGITS, LETTERS = "0123456789", "abcdef"
SYMBOLS = ("<pad>", "<bos>", "<eos>", *DIGITS, *LETTERS, *"CRNP+", *"=~>[]!SG")
"""Task signs (Copy, Reverse, couNt, Produce, +), answer sign, filler, end of prompt or tool output, call brackets,
error sign, Set, Get."""
SIZE = len(SYMBOLS)
ID = {symbol: i for i, symbol in enumerate(SYMBOLS)}


def encode(text: str) -> list[int]:
    """Return the tokens of `text`, none added."""
    return [ID[symbol] for symbol in text]


def decode(tokens: Iterable[int]) -> str:
    """Return the text of `tokens` without padding, BOS and EOS."""
    return "".join(SYMBOLS[token] for token in tokens if token > EOS)
