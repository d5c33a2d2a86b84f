"""rlprobe: step records as its recorder writes them, its doctor with the default thresholds; info is no alarm."""

from rlprobe.doctor.engine import diagnose_view
from rlprobe.doctor.runview import RunView
from rlprobe.schemas import RunManifest, StepRecord


def alarms(run):
    manifest = RunManifest(run_id=run["id"], created_at="2026-01-01T00:00:00", algorithm=run["algorithm"].lower())
    records = [StepRecord(**{**row, "step": int(row["step"])}) for row in run["rows"]]
    found = diagnose_view(RunView(manifest, records))
    return [(f.signature_id, run["end"], f.explanation) for f in found if f.severity != "info"]
