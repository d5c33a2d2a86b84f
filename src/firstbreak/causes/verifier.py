"""Causes in what judges answers: verifiers of a task with a right answer, and judges of taste."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link
from .reward_signal import READ_SAMPLES

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="verifier-too-lenient",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The verifier pays wrong responses, such as those that name several answers.",
        explains={"hedged-answers-paid": 3.0, "cut-answers-paid": 3.0, "false-success-rising": 1.0},
        experiments=(
            Experiment(
                "audit the verifier",
                "Put hedged, empty and malformed answers to it, and right ones written another way.",
                "samples",
                command="firstbreak audit verifier MODULE:FUNCTION",
            ),
            READ_SAMPLES,
        ),
        fixes=(Fix("Parse one final answer and compare it whole; refuse a response that gives several."),),
        separate_with=("reward/true_objective", "reward/eval_mean"),
    ),
    Cause(
        name="verifier-too-strict",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The verifier refuses right answers, such as those of a form that its parser does not read.",
        explains={
            "references-unpaid": 3.0,
            "zero-std-groups": 0.3,
            "task-too-hard": 0.3,
        },
        experiments=(
            Experiment(
                "score the references",
                "Score every reference answer of the data as a response, and print those that are not paid.",
                "samples",
            ),
        ),
        fixes=(Fix("Parse by meaning, and count what cannot be parsed apart from what is wrong."),),
        separate_with=("reward/reference_unpaid_frac",),
    ),
    Cause(
        name="one-score-for-all",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="One score is handed to all responses of a batch, such as its mean.",
        explains={"scores-broadcast": 3.0, "zero-std-groups": 0.3, "reward-std-collapse": 0.3},
        experiments=(
            Experiment(
                "two responses at once",
                "Score a right and a wrong response to one prompt in one call: the scores must differ.",
                "samples",
                command="firstbreak audit verifier MODULE:FUNCTION",
            ),
        ),
        fixes=(Fix("Return one score for each response, in their order."),),
        separate_with=("reward/train_std",),
    ),
    Cause(
        name="judge-unreliable",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="The judge rewards position, length or style, or the policy has found its taste.",
        explains={"judge-bias": 3.0, "reward-pays-length": 0.7, "reward-noisy": 0.3, "proxy-divergence": 0.5},
        experiments=(
            Experiment("swap the answers", "Judge 100 pairs in both orders: verdicts that turn are not verdicts."),
        ),
        fixes=(Fix("Judge both orders, take a panel, and score a fixed set with human verdicts at intervals."),),
        separate_with=("reward/judge_flip_fraction", "reward/judge_agreement"),
    ),
    Cause(
        name="verifier-fails-now-and-then",
        link=Link.REWARD_SIGNAL,
        component=Component.REWARD,
        summary="What scores answers errs on a share of them, or scores reach other answers than those they are of.",
        explains={"scores-scatter-as-answers-narrow": 3.0, "return-collapse": 0.5, "smooth-decline": 0.5},
        experiments=(
            Experiment(
                "audit the verifier",
                "Put answers that were scored before to it again, twice: their scores must be the same.",
                "samples",
                command="firstbreak audit verifier MODULE:FUNCTION",
            ),
            READ_SAMPLES,
        ),
        fixes=(Fix("Let a verifier that cannot answer say so, and drop such answers instead of paying them 0 or 1."),),
        separate_with=("group/reward_std_mean", "policy/entropy", "reward/golden_set"),
    ),
)
