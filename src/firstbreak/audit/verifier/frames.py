"""The ways in which an answer is wrapped, and which of them a verifier understands."""

from __future__ import annotations

from dataclasses import dataclass

REASONING = "Let me work it out step by step. "
"""Neutral: no digit, no letter by itself, no yes or no."""
LONGER = "We look at the question once more, go through every step with care, and come to the same result. "


@dataclass(frozen=True)
class Frame:
    """One way to write a response; `text` holds `<R>` where the reasoning goes and `<A>` where the answer goes."""

    name: str
    text: str

    @property
    def reasons(self) -> bool:
        """Whether it has a place for reasoning."""
        return "<R>" in self.text

    def fill(self, answer: str, reasoning: str = REASONING) -> str:
        """Return the response."""
        return self.text.replace("<R>", reasoning).replace("<A>", answer)


FRAMES: tuple[Frame, ...] = (
    Frame("boxed", "<R>The answer is \\boxed{<A>}."),
    Frame("tag", "<R><answer><A></answer>"),
    Frame("think-lines", "<think>\n<R>\n</think>\n<answer>\n<A>\n</answer>"),
    Frame("think", "<think><R></think><answer><A></answer>"),
    Frame("hash", "<R>\n#### <A>"),
    Frame("colon", "<R>Final answer: <A>"),
    Frame("sentence", "<R>The answer is <A>."),
    Frame("code", "<R>\n```python\n<A>\n```"),
    Frame("bare", "<A>"),
)
"""The preferred first: those that say where the answer begins and ends."""
BY_NAME = {frame.name: frame for frame in FRAMES}
THINKING = ("think-lines", "think")


def frames_for(kind: str) -> tuple[Frame, ...]:
    """Return the frames that make sense for answers of `kind`."""
    if kind == "code":
        return (BY_NAME["code"], BY_NAME["tag"], BY_NAME["think"], BY_NAME["bare"])
    return tuple(f for f in FRAMES if f.name != "code")


def reasoning_of(characters: int) -> str:
    """Return neutral reasoning of about so many characters."""
    return LONGER * max(1, characters // len(LONGER))
