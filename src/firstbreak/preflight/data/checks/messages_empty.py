"""The check `messages-empty`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..counting import shown
from ..datafile import DataFile

SOME = 0.01
"""Below one conversation in a hundred it is a stray."""


@check(
    "PDT015",
    "messages-empty",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.INFO,
    fix="Leave out messages that say nothing, or write what the system message is meant to say.",
)
def look(data: DataFile) -> Answer:
    """Conversations hold messages that say nothing, such as an empty system message.

    What is measured:
        Messages of the system or the user whose text is missing or white space, in conversations.

    Why it hurts:
        The chat template writes an empty turn; a model that met none in its training answers it oddly, and at
        deployment there is another system message.

    Usual causes:
        A default of "" for the system message; a field name of which the content was read from the wrong key.

    What to try:
        Render the first row named with the chat template and read it.

    When it is harmless:
        Models whose template passes over an empty system message.

    References:
        Engineering default: 1 % of the conversations; user messages that are empty are a warning.
    """
    rows = [s for s in data.samples if s.turns]
    if not rows:
        return Skip("there are no conversations in the file")
    empty = {
        who: [s.number for s in rows if any(t.empty and t.speaker == who for t in s.turns)]
        for who in ("user", "system")
    }
    who = "user" if len(empty["user"]) >= max(2, SOME * len(rows)) else "system"
    hit = empty[who]
    if len(hit) < max(2, SOME * len(rows)):
        return None
    return Symptom(
        f"{shown(len(hit), len(rows))} conversations have an empty {who} message, first row {hit[0]}",
        "messages",
        {"empty": len(hit), "conversations": len(rows), "first_row": hit[0], "speaker": who},
        severity=Severity.WARNING if who == "user" else None,
    )
