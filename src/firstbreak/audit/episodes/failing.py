"""Whether the result of a tool reads like a refusal, and whether like an environment that is not there."""

from __future__ import annotations

import json
import re
from typing import Any, cast

_OPENING = re.compile(
    r"\s*(?:\[|<|\*\*|`)*\s*(?:(?:\w+\s?)?(?:error|exception)\b(?!\s*(?:rate|log|s\b|free))|failed\b|failure\b|"
    r"traceback \(most recent call last\)|command not found|permission denied|no such file|"
    r"invalid (?:call|argument|json))",
    re.IGNORECASE,
)
_EXIT = re.compile(r"\b(?:exit(?:ed)?(?: with)?(?: code| status)?|returncode|exit_code)\D{0,3}(\d+)\b", re.IGNORECASE)
_ABSENT = re.compile(
    r"connection (?:was )?(?:refused|reset|aborted|error|closed)|no such container|(?:container|sandbox|environment|"
    r"server|worker|session) (?:is |was |has )?(?:not |never |failed to )(?:be(?:en)? )?(?:found|running|ready|"
    r"start\w*|initiali[sz]ed|available|up|created|reachable)|not initiali[sz]ed|"
    r"docker (?:daemon|error)|service unavailable|"
    r"\b50[234]\b.{0,20}(?:error|gateway|unavailable)|name resolution|no route to host|broken pipe|"
    r"failed to (?:start|create|launch|reset) (?:the )?(?:container|sandbox|environment|session)|timed? ?out",
    re.IGNORECASE,
)
HEAD_CHARACTERS = 200
"""A refusal says so at once; further down the word error is part of what was read. Engineering default."""


def says_failed(result: str) -> bool:
    """Whether `result` opens like an error message, or is a JSON object that reports one."""
    start = result[:HEAD_CHARACTERS].lstrip()
    if start.startswith("{"):
        verdict = _of_object(result)
        if verdict is not None:
            return verdict
    if _OPENING.match(start):
        return True
    code = _EXIT.match(start)
    return code is not None and int(code[1][:9]) != 0


def _of_object(result: str) -> bool | None:
    try:
        parsed: Any = json.loads(result)
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict):
        return None
    told = {str(k).lower(): v for k, v in cast(dict[Any, Any], parsed).items()}
    if any(told.get(k) is False for k in ("success", "ok", "succeeded")) or told.get("iserror") is True:
        return True
    if told.get("error") or told.get("exception"):
        return True
    codes = [told.get(k) for k in ("exit_code", "returncode", "exit_status")]
    return any(isinstance(c, int) and c != 0 for c in codes) or str(told.get("status")).lower() in ("error", "failed")


def says_absent(result: str) -> bool:
    """Whether `result` reads as if the environment, not the call, were at fault."""
    return _ABSENT.search(result[: 4 * HEAD_CHARACTERS]) is not None


def gist(result: str) -> str:
    """Return the first line of a message without its numbers, to tell whether two say the same."""
    line = result.strip().split("\n", 1)[0][:HEAD_CHARACTERS]
    return re.sub(r"\d+|'[^']*'|\"[^\"]*\"", "#", line.lower())
