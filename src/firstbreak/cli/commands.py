"""The commands that exist: name, the module that holds it, one line of help."""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "diagnose": ("firstbreak.cli.diagnose", "say which link of the training loop broke first, and on what evidence"),
    "compare": ("firstbreak.cli.compare", "say where two runs part, and which settings differ"),
    "preflight": ("firstbreak.cli.preflight", "prove environment, reward, data and trainer before a run"),
    "probe": ("firstbreak.cli.probe", "try a trainer on small tasks with known answers"),
    "explain": ("firstbreak.cli.explain", "explain a rule, a check, a metric or a cause"),
    "rules": ("firstbreak.cli.rules", "list the rules that read logs"),
    "checks": ("firstbreak.cli.checks", "list the checks made before a run"),
    "start": ("firstbreak.cli.start", "say where to look for a symptom described in your words"),
    "demo": ("firstbreak.cli.demo", "diagnose a broken run and its healthy twin that come with firstbreak"),
    "skill": ("firstbreak.cli.skill", "print the instructions for coding agents"),
}
