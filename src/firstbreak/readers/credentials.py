"""What looks like a credential among settings: by the form of its text, or by the name of its setting."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

CREDENTIAL = re.compile(r"\b(?:hf_|sk-|ghp_|gho_|github_pat_|glpat-|xox[abp]-|AKIA|eyJ)[\w.-]{8,}")
"""Tokens that say by their first letters whose they are: Hugging Face, OpenAI, GitHub, GitLab, Slack, AWS, JWT."""
LOGIN = re.compile(r"(?<=://)[^\s/@]+:[^\s/@]+(?=@)")
"""User and password within an address."""
NAMED = re.compile(
    r"secret|passw|credential|cookie|bearer|authorization|(?:api|access|private|wandb|openai|anthropic|aws)[._-]?key$"
    r"|(?:^|[./])token$|(?:api|access|auth|refresh|session|hub|hf|huggingface|wandb|github|openai)[._-]?token$"
    r"|webhook(?:[._-]?url)?$",
    re.IGNORECASE,
)
"""Names of settings that hold one. Narrow, as a diagnosis is made of a record: `pad_token`, `stop_token` and `sort_key`
are settings like others."""
REMOVED = "[removed]"


def without_credentials(value: Any, name: str = "") -> Any:
    """Return the setting `name`, or settings within settings, with `[removed]` in the place of every credential."""
    if isinstance(value, Mapping):
        return {key: without_credentials(x, str(key)) for key, x in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, (list, tuple)):
        return [without_credentials(x, name) for x in cast(list[Any], value)]
    if not isinstance(value, str):
        return value
    if value and NAMED.search(name):
        return REMOVED
    return CREDENTIAL.sub(REMOVED, LOGIN.sub(REMOVED, value))
