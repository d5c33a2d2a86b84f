"""How much an agent did."""

from __future__ import annotations

from ..episodes.episode import episode_of
from ..episodes.setup import worker
from ..measure import Values, measure
from ..sample import Sample
from ..seen import Seen

COLUMNS = {
    "agent/calls": "tool calls of the episode",
    "agent/turns": "messages of the model",
    "agent/cost": "summed cost of the calls, in the unit of the log",
    "agent/changes": "calls that changed the state of the environment, where the log says so of each",
    "agent/written_characters": "length of all that the model wrote, arguments of calls included, characters",
    "agent/returned_characters": "length of all that tools returned, characters",
    "agent/unfinished": "1 where the episode ends on a call or a tool's result instead of a message of the model",
    "agent/loss_tokens": "tokens in the loss, where the log holds the mask",
    "agent/worker": "a fingerprint of the worker or the file that the episode comes from",
}


@measure(COLUMNS)
def activity(seen: Seen) -> Values:
    """Count calls, turns, cost and characters."""
    episode = episode_of(seen.sample)
    if episode is None:
        return None
    calls, tokens = episode.calls, seen.sample.tokens
    costs = [c.made.cost for c in calls if c.made.cost == c.made.cost]
    tool_turns = sum(len(t.text) for t in seen.sample.turns if t.role == "tool")
    return (
        float(len(calls)),
        float(len(episode.said)),
        float(sum(costs)) if costs else float("nan"),
        episode.changes if calls else 0.0,
        float(sum(map(len, episode.said)) + sum(len(c.made.arguments) + len(c.made.name) for c in calls)),
        float(tool_turns or sum(len(c.made.result) for c in calls)),
        float(not ended(seen.sample)),
        float(sum(tokens.loss_mask)) if tokens is not None and tokens.loss_mask else float("nan"),
        worker(seen.sample),
    )


def ended(sample: Sample) -> bool:
    """Whether the conversation ends with a message of the model that calls nothing."""
    return bool(sample.turns) and sample.turns[-1].role == "assistant" and not sample.turns[-1].calls
