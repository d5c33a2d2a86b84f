"""A bundle to share: canonical series, findings and settings of runs, with secrets, names and places taken out."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..diagnosis import Diagnosis
from .json import clean, document, dumps
from .redaction import redact, redact_text

README = """A firstbreak bundle: what one or more training runs logged, in canonical names, and what firstbreak found.

findings.json  the diagnosis (docs/json.md)
series.csv     run, metric, scope, step, value
config.json    the settings of each run; values under names like token, key, secret, password, api are removed

Absolute paths are cut to their last part; addresses, e-mail addresses and what looks like a credential are removed.
Read the files before you share them: free text in settings may still say more than you want.
"""


def write(diagnoses: Sequence[Diagnosis], path: Path) -> list[tuple[str, int]]:
    """Write the bundle to `path` and return the (name, bytes) of what it contains."""
    contents = {
        "README.txt": README,
        "findings.json": dumps(_findings(diagnoses)),
        "series.csv": _series(diagnoses),
        "config.json": json.dumps([redact(clean(d.log.config)) for d in diagnoses], indent=2),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in contents.items():
            archive.writestr(name, text)
    path.write_bytes(buffer.getvalue())
    return [(name, len(text.encode())) for name, text in contents.items()]


def _findings(diagnoses: Sequence[Diagnosis]) -> Any:
    """The JSON document, redacted; its own keys are left alone, whatever they are called."""

    def strings(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {redact_text(str(k)): strings(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(value, list):
            return [strings(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
        return redact_text(value) if isinstance(value, str) else value

    return strings(document(diagnoses))


def _series(diagnoses: Sequence[Diagnosis]) -> str:
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("run", "metric", "scope", "step", "value"))
    for index, diagnosis in enumerate(diagnoses):
        for series in diagnosis.log.series:
            scope = redact_text(str(series.scope))
            for step, value in zip(series.step.tolist(), series.value.tolist(), strict=True):
                rows.writerow((index, series.metric, scope, repr(step), repr(value)))
    return out.getvalue()
