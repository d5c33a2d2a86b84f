"""What a verdict leaves open stands in the head of the page, beside the verdict."""

from __future__ import annotations

from dataclasses import replace

from firstbreak.diagnosis import Diagnosis
from firstbreak.report.html import page


def test_a_note_stands_in_the_head_and_is_text(healthy: Diagnosis) -> None:
    text = page([replace(healthy, notes=("look <b>here</b>",))])
    place = text.index("Note: look &lt;b&gt;here&lt;/b&gt;.")
    assert place < text.index("The training loop")
    assert "Note:" not in page([replace(healthy, notes=())])
