"""One behaviour sample: what was asked, what the model did, and what it was paid for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

NAN = float("nan")
UNNAMED = "\0unnamed "
"""How the group of a sample begins whose log names neither its prompt nor its group."""
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, and what came of it."""

    name: str
    arguments: str
    """As the model wrote them, JSON where the framework uses it."""
    result: str = ""
    failed: bool | None = None
    """Whether the tool reported a failure; None where nobody says."""
    changed: bool | None = None
    """Whether the state of the environment changed by it; None where nobody says."""
    cost: float = NAN
    """In the unit of the log: seconds, money or calls."""
    turn: int = 0
    """The turn, from 0, in which it was made."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the trainer really trained on, where the dump holds it."""

    ids: tuple[int, ...] = ()
    """Ids of prompt and response together, or of the response alone; see `start`."""
    start: int = 0
    """Place of the response's first id."""
    loss_mask: tuple[int, ...] = ()
    """1 where a token is in the loss; as long as `ids`, or empty."""
    logprobs: tuple[float, ...] = ()
    """Of the sampler, one for each response token, or empty."""
    retokenised: tuple[int, ...] = ()
    """Ids of the same text encoded again, where the dump holds them."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion (or one episode of an agent) with all that its log says of it. NaN, None, "" mean: not said."""

    prompt: str
    response: str
    """All that the model wrote; for an agent the texts of its turns, in order."""
    reward: float = NAN
    """What training paid, summed over the episode."""
    row: int = 0
    """Line or row of the source, from 0."""
    source: str = ""
    """Name of the file it came from, below the path asked for."""
    group: str = ""
    """Whatever tells the prompt apart; the prompt itself where a log gives nothing better."""
    step: float = NAN
    """Trainer step, where known."""
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """Every other number the log holds of the sample: components of the reward, side metrics."""
    human: float = NAN
    """A human's score, or one by something independent of the reward."""
    human_chosen: float = NAN
    """The same of a sample that was picked for what it shows: it says nothing of how samples are on the whole."""
    success: bool | None = None
    """Whether the task was really solved, by the environment's own state."""
    advantage: float = NAN
    truncated: bool | None = None
    stop_reason: str = ""
    length_tokens: float = NAN
    """Of the response."""
    answer: str = ""
    """The reference answer."""
    turns: tuple[Turn, ...] = ()
    """The whole conversation, of agents and chats."""
    tokens: Tokens | None = None
    versions: tuple[float, float] | None = None
    """First and last version of the policy that wrote it."""
    unsafe: bool | None = None
    """Whether the prompt asks for something that should be refused."""
    category: str = ""
    """Task, data set or language that the log names."""


def prompts_of(samples: Sequence[Sample]) -> list[str]:
    """Return what tells the prompts of `samples` apart whatever the step [N]: texts, or groups where all share one.

    A group holds the step, so that a prompt drawn at ten steps would count as ten prompts.
    """
    texts = [s.prompt or ("" if s.group.startswith(UNNAMED) else s.group) for s in samples]
    return texts if "" in texts or len(set(texts)) > 1 else [s.group or s.prompt for s in samples]


def done_by(sample: Sample) -> str:
    """Return all that the model did: its response, and what it called; two agents that say the same may act apart.

    Of a sample whose text the log does not hold, the ids of its tokens: without them all would be alike.
    """
    if not sample.response and not sample.turns and sample.tokens is not None:
        return " ".join(map(str, sample.tokens.ids[sample.tokens.start :]))
    calls = [f"{call.name} {call.arguments}" for turn in sample.turns for call in turn.calls]
    return "\n".join([sample.response, *calls])
