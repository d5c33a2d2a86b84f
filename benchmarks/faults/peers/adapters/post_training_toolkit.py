"""Post-Training Toolkit: a data frame of the rows, its heuristics for the trainer's kind; low severity is no alarm."""

import pandas as pd
from post_training_toolkit.models.heuristics import run_heuristics

KINDS = {"PPO": "ppo", "RLHF-PPO": "ppo", "GRPO": "grpo"}


def alarms(run):
    frame = pd.DataFrame(run["rows"])
    found = run_heuristics(frame, KINDS[run["algorithm"]])
    return [(one.type, run["end"], one.message) for one in found if one.severity in ("high", "medium")]
