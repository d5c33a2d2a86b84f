"""zen-rl: what its TensorBoard loader would return, tag -> [(step, value)], given to its rules."""

from zen.detect.rules import detect


def alarms(run):
    metrics = {key: list(zip(*curve, strict=True)) for key, curve in run["keys"].items() if curve[0]}
    return [(one["mode"], one["step"], f"{one['metric']} {one['value']:g}") for one in detect(metrics)]
