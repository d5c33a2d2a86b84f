"""Causes in the environment and the data."""

from __future__ import annotations

from ..cause import Cause, Experiment, Fix
from ..finding import Component, Link

READ_SAMPLES = Experiment(
    "read samples",
    "Read twenty raw responses with their stop reason: do they need more room, or do they never stop?",
    "samples",
    command="firstbreak audit SAMPLES --show 20",
)

CAUSES: tuple[Cause, ...] = (
    Cause(
        name="responses-cut-off",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ROLLOUT,
        summary="Responses are cut at the length limit before they reach an answer, so the scorer sees no answers.",
        explains={
            "all-truncated": 3.0,
            "response-cap-fell": 3.0,
            "truncation-growing": 1.5,
            "no-eos-from-start": 1.5,
            "truncation-scored-wrong": 2.0,
            "reward-constant": 0.7,
            "zero-std-groups": 0.7,
            "task-too-hard": 0.7,
            "grad-norm-zero": 0.7,
            "reward-flat": 0.5,
        },
        experiments=(
            Experiment(
                "longer cap",
                "Generate 50 prompts with four times the cap and rescore: a rising share of finished answers convicts.",
                "samples",
            ),
            READ_SAMPLES,
        ),
        fixes=(
            Fix("Raise the response limit, or filter prompts whose answers do not fit.", patch="longer-responses"),
            Fix("Mask truncated samples or use a soft overlong penalty.", patch="mask-truncated"),
        ),
        separate_with=("seq/len_terminated_mean", "seq/repetition_fraction"),
    ),
    Cause(
        name="template-or-stop-token",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ROLLOUT,
        summary="Chat template, end token or prompt format do not fit the model: no end, or half a prompt.",
        explains={
            "no-eos-from-start": 3.0,
            "responses-pass-their-end": 3.0,
            "prompts-shortened": 3.0,
            "prompts-alike": 3.0,
            "template-changed": 3.0,
            "return-collapse": 0.5,
            "all-truncated": 1.5,
            "empty-responses": 2.0,
            "reward-constant": 0.5,
            "zero-std-groups": 0.5,
            "grad-norm-zero": 0.5,
        },
        experiments=(
            READ_SAMPLES,
            Experiment(
                "decode prompts",
                "Decode the prompt ids as trained on and compare with the template.",
                "tokens",
                command="firstbreak preflight data FILE",
            ),
        ),
        fixes=(Fix("Apply the model's chat template in training as in evaluation; check the stop tokens."),),
        separate_with=("seq/len_terminated_mean",),
    ),
    Cause(
        name="episodes-broken",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="Episodes do not begin or end as they should: done flags, resets, time limits, extra rows.",
        explains={
            "ends-hidden": 3.0,
            "stuck-done": 3.0,
            "steps-after-end": 3.0,
            "time-limit-shortened": 3.0,
            "length-turns-constant": 3.0,
            "limit-caps-return": 3.0,
            "episodes-too-short": 1.0,
            "autoreset-extra-step": 2.0,
            "episode-statistics-missing": 0.3,
            "episodes-at-time-limit": 0.5,
        },
        experiments=(
            Experiment(
                "counter environment",
                "Run the collector on an environment that counts steps: inside every transition obs' = obs + 1.",
                "code",
                command="firstbreak probe TRAINER",
            ),
        ),
        fixes=(Fix("Check resets after done, the autoreset mode, and terminated against truncated."),),
    ),
    Cause(
        name="time-limit-as-termination",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="Time limits are treated as terminations, so values near the limit are biased low.",
        explains={
            "limit-not-bootstrapped": 3.0,
            "time-limit-bootstrap-off": 2.0,
            "episodes-at-time-limit": 0.5,
            "critic-not-learning": 0.3,
        },
        experiments=(
            Experiment(
                "targets both ways",
                "Recompute the targets of one fixed batch with and without the bootstrap at truncation.",
                "fixed_batch",
                command="firstbreak preflight invariants TRAINER",
            ),
        ),
        fixes=(Fix("Cut the bootstrap only at `terminated`; bootstrap truncated steps from the final observation."),),
    ),
    Cause(
        name="actions-out-of-range",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="Actions sit at their bounds: scaling or squashing is missing or saturated.",
        explains={"actions-cut-down": 3.0, "action-saturation": 3.0, "logits-extreme": 0.5},
        experiments=(
            Experiment(
                "action sweep",
                "Sweep each action dimension over its range and see what moves.",
                "code",
                command="firstbreak preflight env ENV",
            ),
        ),
        fixes=(Fix("Rescale actions to the environment's bounds and take the log-prob of the executed action."),),
    ),
    Cause(
        name="rollouts-fail",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="Set-up errors, tool failures or aborted rollouts are trained on as if the policy had failed.",
        explains={
            "rollout-errors": 3.0,
            "tool-failures-rising": 2.0,
            "empty-responses": 1.5,
            "turn-blow-up": 1.0,
            "reward-flat": 0.3,
        },
        experiments=(
            Experiment(
                "replay actions",
                "Replay the same actions twice: rewards that differ are the environment's.",
                "samples",
                command="firstbreak preflight env ENV",
            ),
        ),
        fixes=(Fix("Separate infrastructure failures from policy failures; drop or mask them."),),
    ),
    Cause(
        name="environment-returns-nonfinite",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="Observations or reward terms from the environment are not finite.",
        explains={"reward-nonfinite": 1.5, "nonfinite-metric": 0.5},
        experiments=(
            Experiment(
                "finite check per term",
                "Check isfinite, minimum and maximum of every observation and reward term each step.",
                "finite_check",
                command="firstbreak preflight env ENV",
            ),
        ),
        fixes=(Fix("Find the first non-finite term at its source; never just replace NaN by 0."),),
        separate_with=("reward/component",),
    ),
    Cause(
        name="observations-unusable",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="What the agent sees tells it little: blank, in useless units, or of other steps than it acts on.",
        explains={
            "observations-blank": 3.0,
            "transitions-unpredictable": 2.5,
            "observation-scale-off": 2.0,
            "reward-flat": 0.5,
            "entropy-stuck-high": 0.5,
            "critic-not-learning": 0.5,
            "explained-variance-negative": 0.3,
            "q-over-bound": 0.3,
        },
        experiments=(
            Experiment(
                "environment alone",
                "Play the environment without the trainer: do observations vary, in what units, do they follow?",
                command="firstbreak preflight env ENV",
            ),
        ),
        fixes=(
            Fix("Print one observation before and after each wrapper; the first that spoils it is the fault."),
            Fix("Normalise observations with running statistics; save them with the checkpoint."),
        ),
        separate_with=("obs/constant_frac", "obs/scale_median", "env/predicted_frac"),
    ),
    Cause(
        name="environment-changed",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ENVIRONMENT,
        summary="Environment, wrapper or normaliser changed while the run went: what was learned no longer fits.",
        explains={
            "observation-shift": 3.0,
            "action-response-changed": 3.0,
            "dynamics-changed": 3.0,
            "foreseen-now-and-then": 1.5,
            "observations-held": 3.0,
            "world-stands-still": 3.0,
            "copy-hangs": 1.5,
            "return-falls-at-once": 2.0,
            "critic-startled": 2.0,
            "reward-redefined": 0.7,
            "reward-unforeseen": 0.7,
            "return-collapse": 1.0,
            "explained-variance-collapse": 0.7,
            "value-loss-explosion": 0.5,
            "grad-norm-explosion": 0.3,
            "advantage-mean-biased": 0.3,
        },
        experiments=(
            Experiment(
                "replay actions",
                "Replay saved actions from saved states with the code of before and of now; compare the observations.",
                "samples",
                command="firstbreak preflight env ENV",
            ),
        ),
        fixes=(
            Fix("Restore the wrapper, normaliser statistics or simulator setting of before the change."),
            Fix("Go back to the last checkpoint from before it: what was learned since is of another task."),
        ),
        separate_with=("env/dynamics_surprise", "env/action_response", "obs/shift"),
    ),
    Cause(
        name="tool-output-trained",
        link=Link.ENVIRONMENT_DATA,
        component=Component.LOSS_MASK,
        summary="The loss covers tokens that a tool or the environment wrote.",
        explains={"tool-tokens-trained": 3.0, "logprob-mismatch": 0.5, "template-collapse": 0.3},
        experiments=(
            Experiment("print the mask", "Print ids, text and mask of three trajectories, turn by turn.", "tokens"),
        ),
        fixes=(Fix("Build the mask where tokens are sampled, and pass token ids on instead of text."),),
    ),
    Cause(
        name="text-encoded-again",
        link=Link.ENVIRONMENT_DATA,
        component=Component.ROLLOUT,
        summary="Sampled text is encoded again, so the trainer scores other tokens than were sampled.",
        explains={
            "retokenisation-drift": 3.0,
            "logprob-mismatch": 0.7,
            "behaviour-weight-off-one": 0.5,
            "ratio-tail": 0.3,
        },
        experiments=(
            Experiment("compare ids", "Compare token ids of sampler and trainer for twenty sequences.", "tokens"),
        ),
        fixes=(Fix("Carry the sampled token ids through tools and templates; encode only what is new."),),
        separate_with=("async/staleness_mean", "seq/retokenised_fraction"),
    ),
    Cause(
        name="answer-key-shifted",
        link=Link.ENVIRONMENT_DATA,
        component=Component.REWARD,
        summary="Prompts and reference answers do not belong together: each prompt is judged by another one's key.",
        explains={"answers-of-other-prompts": 3.0, "reference-paid-less": 0.5, "reward-redefined": 0.3},
        experiments=(
            Experiment(
                "print prompt and key",
                "Print prompt, reference answer and score of five rows as the scorer gets them.",
                "samples",
            ),
        ),
        fixes=(Fix("Carry the answer in the row of its prompt through every sort, filter and shuffle."),),
        separate_with=("reward/reference_margin",),
    ),
)
