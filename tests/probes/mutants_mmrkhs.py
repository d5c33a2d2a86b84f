"""The mutants of the reference MM-RKHS, by id with underscores; what each changes is in mutants.toml.

`train_<id>` is the same mutant as a `train` function.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.mmrkhs_terms import policy_mmd2

from .planting import edited, train_function

NOT_PLANTED: dict[str, str] = {}
"""Ids of the list that this trainer has no place for, and why."""

SAMPLES = 16
"""Draws of the sampled MMD, for the two bugs that only a sampled MMD can have."""


def __getattr__(name: str) -> Any:
    return train_function(name, globals(), MMRKHSConfig)


# ---- KL and eta -----------------------------------------------------------------------------------------------------

mmrkhs_kl_detached = edited(
    MMRKHS, loss=("kl_divergence(new, old).mean() / self.eta", "(kl_divergence(new, old).mean() / self.eta).detach()")
)
mmrkhs_kl_sign_flipped = edited(MMRKHS, loss=('"kl": kl_divergence(', '"kl": -kl_divergence('))
mmrkhs_eta_inverted = edited(MMRKHS, loss=(".mean() / self.eta", ".mean() * self.eta"))
mmrkhs_eta_squared_schedule = edited(
    MMRKHS,
    set_weights=(
        "initial=config.eta_initial,",
        "initial=config.eta_initial * (1.0 + config.eta_growth * self.iteration),",
    ),
)

# ---- MMD ------------------------------------------------------------------------------------------------------------


def sampled(mutant: Any) -> Any:
    """Return `mutant` with the MMD from samples, which is a setting of the trainer and no bug."""

    class Sampled(mutant):
        def __init__(self, make_env: Any, *, seed: int = 0, config: MMRKHSConfig | None = None) -> None:
            config = config or MMRKHSConfig()
            config = replace(config, mmd_samples=config.mmd_samples or SAMPLES)
            super().__init__(make_env, seed=seed, config=config)

    return Sampled


healthy_sampled = sampled(MMRKHS)
"""What those two are to be compared with; not a mutant."""

mmrkhs_mmd_inert = edited(
    MMRKHS,
    loss=[
        ("self.mmd(old, new)", "self.mmd(refreshed, new)"),
        ("    return {", "    with torch.no_grad():\n        refreshed = self.actor.distribution(OBS)\n    return {"),
        ("(OBS)", '(minibatch["obs"])'),
    ],
)
mmrkhs_mmd_samples_detached = sampled(edited(MMRKHS, mmd=("new.rsample(size)", "new.rsample(size).detach()")))
mmrkhs_mmd_clamped_at_zero = sampled(
    edited(MMRKHS, mmd=("new.rsample(size), self.bandwidth)", "new.rsample(size), self.bandwidth).clamp(min=0.0)"))
)


class mmrkhs_mmd_cross_term_sign(MMRKHS):  # noqa: N801
    """+ 2 k(x, y)."""

    def mmd(self, old: Any, new: Any) -> Any:
        # The draft form is -2 k(x, y) and nothing else: taking it away once leaves no cross term, twice turns its sign.
        draft = policy_mmd2(old, new, kernel=self.kernel, bandwidth=self.bandwidth, form="draft")
        return super().mmd(old, new) - 2.0 * draft


mmrkhs_bandwidth_100x = edited(MMRKHS, set_weights=("median_bandwidth(", "100.0 * median_bandwidth("))
mmrkhs_self_sharpening = edited(MMRKHS, mmd=("form=self.config.form", 'form="draft"'))

# ---- the surrogate --------------------------------------------------------------------------------------------------

mmrkhs_logprob_of_resampled_action = edited(MMRKHS, loss=("self.log_prob(minibatch) -", "new.log_prob(new.sample()) -"))
# min(r A, clip(r) A) of -A, negated, is max(r A, clip(r) A): what a cost form minimises, here of rewards.
mmrkhs_cost_as_reward = edited(MMRKHS, loss=('minibatch["advantage"]', '-minibatch["advantage"]'))

# ---- advantages and logging -----------------------------------------------------------------------------------------

mmrkhs_truncated_cuts_bootstrap = edited(
    MMRKHS,
    advantages=('{"terminated": rows["terminated"],', '{"terminated": rows["terminated"] | rows["truncated"],'),
)


class mmrkhs_gae_after_flattening(MMRKHS):  # noqa: N801
    """All environments as one long trajectory: each last row is followed by the first of the next environment."""

    def advantages(self, rollout: Any) -> Any:
        spoilt = rollout.clone()
        spoilt["next_value"][:-1, -1] = spoilt["value"][1:, 0]
        found: Any = super().advantages(spoilt.reshape(1, -1))
        for name in ("advantage", "value_target"):
            rollout[name] = found[name].reshape(rollout.shape)
        return rollout


class mmrkhs_metrics_divided_by_updates(MMRKHS):  # noqa: N801
    """Figures of a rollout, logged as if they were sums over gradient steps."""

    def update(self, rollout: Any) -> dict[str, float]:
        before = self.gradient_steps
        metrics = super().update(rollout)
        for name in ("critic/explained_variance", "advantage/abs_max"):
            if name in metrics:
                metrics[name] /= self.gradient_steps - before
        return metrics
