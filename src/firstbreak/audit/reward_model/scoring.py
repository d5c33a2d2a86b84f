"""The child's side: scores texts with a function or a sequence-classification folder."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from ...errors import InputError, missing_extra
from ...isolation.child import Wire
from ...target import load_target

BATCH = 16
Texts = Sequence[str]
Scorer = Callable[[Texts, Texts], "list[float]"]
LONGEST_TOKENS = 4096
"""Tokens that a sequence-classification model is given; longer texts are cut by its tokenizer. Engineering default."""


def score(payload: dict[str, Any], wire: Wire) -> None:
    """Score each job: `jobs` maps a name to [prompts, responses, batch size]; tells the scores batch by batch."""
    wire.journal.begin("import")
    scorer = scorer_of(payload["target"])
    for name, (prompts, responses, size) in payload["jobs"].items():
        for start in range(0, len(prompts), size):
            wire.journal.begin("score")
            wire.journal.act([name, start], call="score")
            values = scorer(prompts[start : start + size], responses[start : start + size])
            wire.tell("scores", job=name, start=start, values=values)


def scorer_of(target: str) -> Scorer:
    """Return the scorer named by `module:fn` or a folder with a sequence-classification model."""
    if Path(target).is_dir():
        return _model(Path(target))
    found: Any = load_target(target)
    function = cast("Callable[..., Any]", found() if inspect.isclass(found) else found)
    return lambda prompts, responses: numbers(_asked(function, list(prompts), list(responses)), len(prompts))


def _asked(function: Callable[..., Any], prompts: list[str], responses: list[str]) -> Any:
    """Call the user's function; one written for a single pair stumbles over the lists, and is told so."""
    try:
        return function(prompts, responses)
    except (AttributeError, TypeError) as error:
        if "list" not in str(error):
            raise
        raise InputError(
            f"The scorer cannot take lists: {error}.",
            "It is called as fn(prompts, responses) with two lists of texts and returns a list of scores.",
        ) from error


def numbers(got: Any, count: int) -> list[float]:
    """Return what a scorer returned as `count` numbers; None and text become NaN.

    Raises:
        InputError: there are not as many scores as responses.
    """
    listed = getattr(got, "tolist", None)
    values = listed() if callable(listed) else got
    if not isinstance(values, (list, tuple)) or len(cast("list[Any]", values)) != count:
        size = len(cast("list[Any]", values)) if isinstance(values, (list, tuple)) else type(got).__name__
        raise InputError(
            f"The scorer returned {size} for {count} responses.",
            "Return one score for each response: fn(prompts, responses) -> scores.",
        )
    return [_number(value) for value in cast("list[Any]", values)]


def _number(value: Any) -> float:
    one = cast("list[Any]", value)[0] if isinstance(value, (list, tuple)) and value else cast("Any", value)
    try:
        return math.nan if one is None or isinstance(one, str) else float(one)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _model(folder: Path) -> Scorer:
    """Return the scorer of a folder that holds a sequence-classification model and its tokenizer."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise missing_extra(error.name or "transformers", "trl", f"Scoring with the model in {folder}") from error
    if not (folder / "config.json").is_file():
        raise InputError(
            f"{folder}: no model in it (config.json is missing).", "Give a folder saved by save_pretrained."
        )
    library = cast(Any, transformers)
    tokenizer = library.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = library.AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True).eval()
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if model.config.pad_token_id is None:
        model.config.pad_token_id = tokenizer.pad_token_id
    longest = min(LONGEST_TOKENS, int(getattr(model.config, "max_position_embeddings", LONGEST_TOKENS)))

    def scores(prompts: Texts, responses: Texts) -> list[float]:
        texts = [_conversation(tokenizer, p, r) for p, r in zip(prompts, responses, strict=True)]
        batch = tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=longest)
        with torch.inference_mode():
            logits = model(**batch).logits.float()
        one = logits[:, 0] if logits.shape[1] == 1 else logits[:, -1] - logits[:, 0]
        return numbers(one, len(texts))

    return scores


def _conversation(tokenizer: Any, prompt: str, response: str) -> str:
    if tokenizer.chat_template is None:
        return f"{prompt}\n{response}"
    messages = [{"role": "user", "content": prompt}, {"role": "assistant", "content": response}]
    return str(tokenizer.apply_chat_template(messages, tokenize=False))
