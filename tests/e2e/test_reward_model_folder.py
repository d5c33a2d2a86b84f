"""A sequence-classification model made here, saved, and scored in a child process."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from firstbreak.audit.reward_model.api import score_pairs
from firstbreak.audit.reward_model.pairs import Pair
from firstbreak.isolation import Limits

pytestmark = pytest.mark.full
LIMITS = Limits(seconds=200, silence_s=120)
WORDS = ["we", "take", "each", "of", "the", "facts", "in", "turn", "and", "find", "that", "they", "are", "plain"]
PAIRS = [
    Pair(i + 1, f"Question {i}?", f"{' '.join(WORDS[: i % 9 + 2])} {i}", " ".join(WORDS[i % 7 :])) for i in range(24)
]


def test_a_sequence_classification_folder(tmp_path: Path) -> None:
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    torch.set_num_threads(1)
    torch.manual_seed(0)
    words = sorted({w for p in PAIRS for w in re.findall(r"\w+|[^\w\s]", f"{p.prompt} {p.chosen} {p.rejected}")})
    raw = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["[PAD]", "[UNK]", *words])}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(
        tmp_path
    )
    config = transformers.LlamaConfig(
        vocab_size=len(words) + 2, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=256, num_labels=1, pad_token_id=0,
    )  # fmt: skip
    transformers.LlamaForSequenceClassification(config).save_pretrained(tmp_path)
    seen = score_pairs(str(tmp_path), PAIRS, limits=LIMITS)
    assert seen.ended == ""
    assert seen.valid.all()
    assert len(set(seen.chosen.tolist())) > 10
    assert seen.again["singly"] == pytest.approx(seen.chosen, abs=1e-4)
