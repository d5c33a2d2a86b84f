"""The commands that exist: name, the module that holds it, one line of help."""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    "diagnose": ("firstbreak.cli.diagnose", "say which link of the training loop broke first, and on what evidence"),
    "watch": ("firstbreak.cli.watch", "watch the log of a running training, and say what breaks as it breaks"),
    "compare": ("firstbreak.cli.compare", "say where two runs part, and which settings differ"),
    "preflight": ("firstbreak.cli.preflight", "prove environment, reward, data and trainer before a run"),
    "probe": ("firstbreak.cli.probe", "try a trainer on small tasks with known answers"),
    "experiment": ("firstbreak.cli.experiment", "settle a hypothesis: one change, paired seeds, a verdict"),
    "settle": ("firstbreak.cli.settle", "choose the experiment that tells a run's causes apart, and weigh its verdict"),
    "shrink": ("firstbreak.cli.shrink", "find the few settings of a failing configuration that its symptom needs"),
    "audit": ("firstbreak.cli.audit", "look at samples: what the model does, and what it is paid for"),
    "record": ("firstbreak.cli.record", "run a training and write down what it was"),
    "replay": ("firstbreak.cli.replay", "run a recorded training again, or say what differs now"),
    "release": ("firstbreak.cli.release", "put what a reviewer needs in one folder, and say go or no-go"),
    "eval": ("firstbreak.cli.eval", "fix the evaluation protocol, count looks, find contamination, compare scores"),
    "explain": ("firstbreak.cli.explain", "explain a rule, a check, a metric or a cause"),
    "rules": ("firstbreak.cli.rules", "list the rules that read logs"),
    "checks": ("firstbreak.cli.checks", "list the checks made before a run"),
    "start": ("firstbreak.cli.start", "say where to look for a symptom described in your words"),
    "demo": ("firstbreak.cli.demo", "diagnose a broken run and its healthy twin that come with firstbreak"),
    "skill": ("firstbreak.cli.skill", "print the instructions for coding agents"),
}
