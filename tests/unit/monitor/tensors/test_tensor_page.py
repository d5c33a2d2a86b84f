"""The how-to page: its loop runs as it stands, its rows hold what it says, and its table names what there is."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from firstbreak.monitor import Monitor, tensors

torch.set_num_threads(1)
PAGE = (Path(__file__).parents[4] / "docs" / "how-to" / "monitor_a_run.md").read_text("utf-8")
SECTION = PAGE.partition("## What the batch and the machine say\n")[2].partition("\n## ")[0]
UPDATES = 4


def test_the_loop_of_the_page_logs_what_the_page_says() -> None:
    """Each row has the batch, the networks and the phases; one of them the machine, asked every ten seconds."""
    torch.manual_seed(0)
    actor, critic, rows = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1), list[dict[str, Any]]()
    obs, action, returns = torch.randn(64, 3), torch.randint(2, (64,)), torch.randn(64)

    class Seen(Monitor):
        def _log(self, metrics: Any, step: float | None, clock: str) -> Any:
            rows.append(dict(metrics))
            return super()._log(metrics, step, clock)

    def log_prob() -> torch.Tensor:
        return torch.distributions.Categorical(logits=actor(obs)).log_prob(action)

    def collect() -> SimpleNamespace:
        value = critic(obs).squeeze(-1).detach()
        raw = returns - value
        normal = (raw - raw.mean()) / raw.std()
        return SimpleNamespace(returns=returns, value=value, advantage=normal, log_prob=log_prob().detach())

    def loss_of(batch: SimpleNamespace) -> tuple[torch.Tensor, torch.Tensor]:
        new = log_prob()
        policy = -(batch.advantage * (new - batch.log_prob).exp()).mean()
        return new, policy + (batch.returns - critic(obs).squeeze(-1)).square().mean()

    names: dict[str, Any] = {
        "actor": actor, "critic": critic, "updates": UPDATES, "collect": collect, "loss_of": loss_of,
        "monitor": Seen(algorithm="PPO"),
        "optimiser": torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01),
    }  # fmt: skip
    exec(re.findall(r"^```python\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)[0], names)
    assert names["monitor"].faults == []
    assert len(rows) == UPDATES
    for row in rows:
        assert row.keys() >= {
            "advantage/std", "advantage/normalised_std", "critic/explained_variance", "policy/ess", "policy/kl_old",
            "policy/clip_binding_high_frac", "optim/actor_grad_norm", "optim/grad_norm", "time/rollout_s",
            "time/update_s", "time/step",
        }  # fmt: skip
    assert sum("system/rss_gb" in row for row in rows) == 1


def test_the_table_names_functions_that_exist_and_leaves_none_out() -> None:
    named = set(re.findall(r"`([A-Za-z_]+)`", "\n".join(re.findall(r"^\|.*\|$", SECTION, re.MULTILINE))))
    assert named <= set(tensors.__all__)
    of_a_batch = set(tensors.__all__) - {"Measure", "OnHost", "Quantities"}
    language = {"Responses", "mixed_prompts", "prompt_variety", "shares", "token_gradients"}  # the adapter of TRL's own
    checks = {"follow", "gae_residual", "return_correlation", "logit_extremes"}  # told in docs/metrics.md
    assert of_a_batch - language - checks == named
