"""What to do, in order, when a task check fires: cheap and certain first."""

from __future__ import annotations

REMEDIES: dict[str, tuple[str, ...]] = {
    "expert-returns-not-better": (
        "check the reward's sign and that actions reach the world",
        "check the expert: does it fit this version of the environment?",
        "do not train before an expert is clearly better than random",
    ),
    "trained-worse-than-random": (
        "turn the reward's sign in a short run: does the return rise?",
        "rank random and expert by the reward after all wrappers",
        "compare the action stored with the one carried out",
    ),
    "trained-not-better-than-random": (
        "run the probes of the trainer: does it learn what is easy?",
        "run an expert: if it fails too, the environment is broken",
        "check observations (dead, unscaled) and the effect of actions",
        "check the reward: signal, sparsity, noise",
    ),
    "gap-barely-closed": (
        "simplify the task: nearer starts, slower targets, fewer objects",
        "add a curriculum from there to the full task",
        "only then a larger budget",
    ),
    "returns-flat-from-start": (
        "start with easy goals (near, slow) and raise the difficulty",
        "add potential-based shaping (firstbreak.preflight.shaping)",
        "begin from demonstrations",
    ),
    "always-truncated": (
        "let an expert try: is there time to reach the goal?",
        "raise the limit or bring the starts nearer",
        "add intermediate goals",
        "let the learner bootstrap at the time limit",
    ),
    "episodes-of-few-steps": (
        "make the task more forgiving: wider margins, gentler starts",
        "check that no start state triggers the termination",
        "start from states in which there is time to act",
    ),
    "goal-never-reached": (
        "add rewards for way points, or potential-based shaping",
        "start from a policy cloned from demonstrations",
        "add an exploration bonus",
        "check that the goal can be reached at all",
    ),
    "goal-not-kept": (
        "make the reward at the goal stronger, or end the episode there",
        "pay for staying as long as the agent is in the region",
        "check that the observation shows what is needed to stop",
    ),
}
"""Check -> remedies in order (difficulty, curriculum, horizon, exploration), each of at most 64 characters."""
