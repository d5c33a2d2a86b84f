"""rldoctor: rows as a user's loop has them, its own `diagnose`; warnings and critical findings are alarms."""

from rl_doctor import Severity, diagnose, run_from_records


def alarms(run):
    found = diagnose(run_from_records(run["rows"]))
    return [(f.detector, run["end"], f.summary) for f in found.findings if f.severity >= Severity.WARNING]
