"""What each fault that was drawn for the seventh live list is called, and the doses at which it was tried in turn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """A fault that was drawn."""

    fault: str
    doses: tuple[float, ...] = (1,)
    """What its number means is said in seventh.toml; a fault that is there or not has one."""


CANDIDATES: dict[str, Candidate] = {
    "E03": Candidate("outcomes-drawn", (0.3, 1)),
    "E06": Candidate("limit-valued-anew"),
    "cleanrl-475": Candidate("ghost-steps", (1, 3, 10)),
    "cares-46": Candidate("rollout-shuffled"),
    "E09": Candidate("units-dropped", (0.5, 0.15, 0.05)),
    "tianshou-82": Candidate("row-after-read", (1, 3)),
    "E16": Candidate("labels-off", (1,)),
    "E14": Candidate("action-held", (4, 12)),
    "marinfold-237": Candidate("padding-sampled", (0.125, 0.4, 0.8)),
    "E12": Candidate("end-overwritten"),
    "unsloth-1761": Candidate("pattern-narrow", (2, 4, 6)),
    "R09": Candidate("substring-enough"),
    "R05": Candidate("potential-kept", (3, 10, 30)),
    "R03": Candidate("reward-drowned", (3, 10, 30)),
    "R04": Candidate("distance-paid", (1, 3, 10)),
    "R11": Candidate("form-outweighs", (1, 3, 10)),
    "P05": Candidate("rate-far-too-high", (10, 30, 100)),
    "P09": Candidate("epochs-many", (3, 10)),
    "P18": Candidate("actor-untaught"),
    "P06": Candidate("schedule-inverted", (10, 30, 100)),
    "P02": Candidate("ratios-of-all-pairs"),
    "C12": Candidate("critic-silenced", (3, 10, 30)),
    "C04": Candidate("twins-maximum"),
    "C06": Candidate("ends-valued"),
    "C02": Candidate("targets-frozen"),
    "RoboVerse-814": Candidate("ends-late", (1, 3)),
    "C01": Candidate("targets-none"),
    "ml-agents-5928": Candidate("temperature-runs", (0.003, 0.01, 0.03)),
    "X08": Candidate("spread-frozen", (5,)),
    "X06": Candidate("temperature-nothing"),
    "X07": Candidate("entropy-wanted", (1, 3)),
    "deep-q-learning-15": Candidate("epsilon-restarts", (1, 3)),
    "F04": Candidate("rollouts-kept", (4, 16, 64)),
    "F07": Candidate("rollouts-behind", (8, 24)),
    "F02": Candidate("replay-full"),
    "N02": Candidate("infinity-masked"),
    "slime-830": Candidate("paths-apart", (0.3, 1, 3)),
    "N04": Candidate("sampler-rounded", (7, 2, 1)),
    "S06": Candidate("resumed-bare", (1, 2)),
    "ray-9253": Candidate("resumed-unlearned"),
    "E05": Candidate("limits-as-ends"),
    "E07": Candidate("reset-forgotten"),
    "E10": Candidate("feature-unscaled", (10, 100, 1000)),
    "trl-5697": Candidate("room-too-short", (2, 1)),
    "rl_games-362": Candidate("boundary-kept"),
    "E11": Candidate("speeds-hidden"),
    "coursia-3360": Candidate("reward-averaged"),
    "R10": Candidate("verifier-falls-over", (0.2, 0.6)),
    "R13": Candidate("judge-swapped"),
    "R07": Candidate("bound-on-rewards", (1, 0.3, 0.1)),
    "P04": Candidate("returns-forward"),
    "P08": Candidate("normalised-in-pairs"),
    "ElegantRL-25": Candidate("twin-counted-twice"),
    "C09": Candidate("trace-ends-early", (1, 3)),
    "ray-13132": Candidate("targets-foreign"),
    "rsl_rl-124": Candidate("spread-unbounded", (0.0001, 0.0003, 0.001)),
    "X05": Candidate("entropy-paid", (0.2, 1, 5)),
    "torchtune-2981": Candidate("batch-of-one"),
    "marinfold-236": Candidate("sampler-miscopied"),
    "trl-4159": Candidate("scored-at-another-heat", (0.5, 0.2)),
    "dreamer-32": Candidate("overflow-applied", (65536, 1048576, 16777216)),
}
