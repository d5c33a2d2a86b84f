"""rlwatch: its detectors with the default thresholds, row by row; without its database and its alert channels."""

from rlwatch.config import RLWatchConfig
from rlwatch.detectors import DetectorSuite

FIELDS = ("entropy", "kl_divergence", "reward_mean", "reward_std", "advantage_std", "loss", "grad_norm")


def alarms(run):
    suite = DetectorSuite(RLWatchConfig())
    found = {}
    for row in run["rows"]:
        given = {name: row[name] for name in FIELDS if name in row}
        for alert in suite.check_step(int(row["step"]), **given):
            found.setdefault(alert.detector, (alert.detector, row["step"], alert.message))
    return list(found.values())
