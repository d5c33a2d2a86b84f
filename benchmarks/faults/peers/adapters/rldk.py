"""rldk: its PPO forensics with the default thresholds, row by row; anomalies of every tracker are alarms."""

from rldk.forensics.comprehensive_ppo_forensics import ComprehensivePPOForensics

NEEDED = ("kl", "entropy", "reward_mean", "reward_std")
OPTIONAL = (
    "policy_grad_norm", "value_grad_norm", "total_grad_norm", "advantage_mean", "advantage_std", "advantage_min",
    "advantage_max",
)  # fmt: skip


def alarms(run):
    forensics = ComprehensivePPOForensics(enable_length_bias_detection=False)
    last = dict.fromkeys(NEEDED, 0.0)
    for row in run["rows"]:
        last.update({name: row[name] for name in NEEDED if name in row})
        more = {name: row[name] for name in OPTIONAL if name in row}
        forensics.update(step=int(row["step"]), kl_coef=1.0, **last, **more)
    found = {}
    for one in forensics.get_anomalies():
        found.setdefault(one["tracker"], (one["tracker"], run["end"], f"{one.get('type')}: {one.get('message')}"))
    return list(found.values())
