"""The TD target that an off-policy update really uses, row by row, read off its gradient.

The target networks are made to return a known function of the next observation, alternately larger in one twin and in
the other, so that the right target is known without error. The critic's gradient is the sum over rows of
c (Q_i - y_i) grad Q_i; moving the rewards gives c, and then y_i follows. Rewards are chosen so that the TD errors are
below 1, where the Huber loss is a square.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, cast

from .bench import OFF_POLICY, Bench, cannot
from .capture import gradients
from .owned import plain
from .rows import Fit, fit, jacobian, vector
from .torch_types import Tensor, load_torch

ROWS = 12
"""Rows of the probe batch: 4 terminated, 4 truncated, 4 in the middle of an episode."""
DRAWS = 16
"""Draws of next actions over which log-probs are averaged: one of 8 rows cannot tell a term from its double."""
LARGEST = 0.35
"""Of the made-up values: so small that a wrong bootstrap does not take a TD error beyond 1 either."""
TERMINATED, TRUNCATED, GOING_ON = slice(0, 4), slice(4, 8), slice(8, 12)


def replay_batch(bench: Bench) -> dict[str, Tensor]:
    """`ROWS` different real rows with the three kinds of ending."""
    torch = load_torch()

    bench.only(*OFF_POLICY)
    bench.need("minibatch", "q", "critics")
    if bench.pieces.update is None and bench.pieces.gradients is None and bench.pieces.losses is None:
        raise cannot("the trainer's update cannot be reached", "pieces.update", "pieces.losses")
    parts = [plain(cast(Callable[[], Any], bench.pieces.minibatch)()) for _ in range(4)]
    batch = {k: torch.cat([p[k] for p in parts]) for k in parts[0]}
    first: dict[tuple[float, ...], int] = {}
    for i, row in enumerate(batch["obs"].reshape(len(batch["obs"]), -1).tolist()):
        first.setdefault(tuple(row), i)
    chosen = torch.tensor(list(first.values())[:ROWS])
    if len(chosen) < ROWS:
        raise cannot(f"only {len(chosen)} different rows in the replay buffer, {ROWS} are needed")
    batch = {k: v[chosen].clone() for k, v in batch.items()}
    batch["terminated"], batch["truncated"] = (torch.zeros(ROWS, dtype=torch.bool) for _ in range(2))
    batch["terminated"][TERMINATED] = True
    batch["truncated"][TRUNCATED] = True
    batch["reward"] = batch["reward"].reshape(ROWS).float()
    return batch


def made_up_values(obs: Tensor, columns: int) -> Tensor:
    """A known function of each row of `obs` [B, ...]: values [B, columns] within `LARGEST`, in no common order."""
    torch = load_torch()

    flat = obs.detach().float().reshape(len(obs), -1)
    ramp = torch.linspace(1.0, 2.0, flat.shape[1])
    phase = 2.1 * torch.arange(columns)
    return LARGEST * torch.sin((flat * ramp).sum(-1, keepdim=True) + phase)


@contextmanager
def made_up(networks: Sequence[Any], obs_width: int) -> Generator[None, None, None]:
    """Within, network number k returns `made_up_values` (its column k, or one column for each action)."""
    torch = load_torch()

    def hook(place: int) -> Callable[[Any, Any, Any], Any]:
        def replace(module: Any, given: Any, output: Any) -> Any:
            del module
            seen = given[0].reshape(len(given[0]), -1)[:, :obs_width]
            wide = output.dim() == 2 and output.shape[1] > 1
            values = made_up_values(seen, output.shape[1] if wide else len(networks))
            return values if wide else values[:, place].reshape(output.shape).to(torch.float32)

        return replace

    with ExitStack() as stack:
        for place, network in enumerate(networks):
            stack.callback(network.register_forward_hook(hook(place)).remove)
        yield


@dataclass(frozen=True)
class Targets:
    """What was read off the critic's gradients. All [ROWS]; of the first twin."""

    batch: dict[str, Tensor]
    """With the rewards that keep all TD errors below 1."""
    known: Tensor
    """Made-up next values [ROWS, twins or actions]."""
    bootstrap: Tensor
    """Target minus reward, with the temperature next to nothing."""
    error: float
    """What rounding does to `bootstrap`."""
    slopes: Tensor
    """Weight of each row per unit of its own reward, negative; all equal where the loss is right."""
    terminal: Fit
    """Fit with all rows terminated."""
    mixed: Fit
    log_prob: Tensor | None
    """Log-prob of the next action that the target subtracts, the mean over `DRAWS` draws, by moving the temperature;
    None without one."""
    online: Tensor
    """Values of the next observation by the online network(s): [ROWS, n] (DQN) or empty."""

    @property
    def even(self) -> bool:
        """Whether every row answers alike to its own reward, so that its target can be read off."""
        low, high = float(self.slopes.min()), float(self.slopes.max())
        return high < 0 and high - low <= 0.2 * -low

    def expected(self, values: Tensor, gamma: float) -> Tensor:
        """The bootstrap of a correct target with next values [ROWS]."""
        return gamma * values * (~self.batch["terminated"]).float()


def targets(bench: Bench) -> Targets:
    """Measure `Targets`."""
    torch = load_torch()

    bench.only(*OFF_POLICY)
    bench.need("target_critics")
    if any(target is critic for target in bench.pieces.target_critics for critic in bench.pieces.critics):
        raise cannot("the target network is the online network")
    if bench.pieces.algorithm == "SAC" and not has_temperature(bench):
        raise cannot("the temperature cannot be varied, so the entropy term is not known", "pieces.fixed_temperature")
    batch = bench.once(replay_batch)
    pieces, gamma = bench.pieces, float(bench.setting("gamma"))
    critic = [w for w in pieces.critics[0].parameters() if w.requires_grad]
    value = cast(Any, pieces.q)(batch["obs"], batch["action"])[0].reshape(ROWS)
    rows = jacobian(value, critic)
    value = value.detach()
    width = batch["obs"].reshape(ROWS, -1).shape[1]
    columns = int(pieces.settings.get("n_actions") or len(pieces.target_critics))
    known = made_up_values(batch["next_obs"], columns)
    discrete = pieces.algorithm == "DQN"
    online = _online_values(bench, batch) if discrete else torch.zeros(ROWS, 0)
    guess = _right_values(bench, known, online)
    offset = torch.linspace(-0.5, 0.5, ROWS)[torch.arange(ROWS) * 5 % ROWS]
    ended = torch.ones(ROWS, dtype=torch.bool)

    def weigh(reward: Tensor, seed: int = bench.seed, **changed: Tensor) -> Fit:
        given = {**batch, "reward": reward, **changed}
        with made_up(pieces.target_critics, width):
            found = gradients(pieces, given, seed)
        assert found is not None
        return fit(vector(found, critic), rows)

    step = 0.1 * torch.where(torch.arange(ROWS) % 2 == 0, 1.0, -1.0)
    with temperature(bench, 1e-6):
        reward = value + offset
        terminal = weigh(reward, terminated=ended, truncated=~ended)
        slopes = (weigh(reward + step, terminated=ended, truncated=~ended).weights - terminal.weights) / step
        fair = value + offset - gamma * guess * (~batch["terminated"]).float()
        mixed = weigh(fair)
        scale = float(slopes.median())
        bootstrap = value + mixed.weights.float() / scale - fair if scale else torch.full((ROWS,), torch.nan)
    log_prob = None
    if has_temperature(bench) and scale:
        heat = 0.5
        with temperature(bench, heat):
            weights = [weigh(fair, bench.seed + i).weights.float() for i in range(DRAWS)]
        warm = torch.stack(weights).mean(0) / scale
        log_prob = -(warm - mixed.weights.float() / scale) / (gamma * heat)
    error = 3 * mixed.error / abs(scale) if scale else float("inf")
    return Targets(
        {**batch, "reward": fair}, known, bootstrap, error, slopes.float(), terminal, mixed, log_prob, online
    )


def _online_values(bench: Bench, batch: Mapping[str, Tensor]) -> Tensor:
    torch = load_torch()

    with torch.no_grad():
        return bench.pieces.critics[0](batch["next_obs"]).reshape(ROWS, -1)


def _right_values(bench: Bench, known: Tensor, online: Tensor) -> Tensor:
    """The next value a correct target takes: the smaller twin, the largest action, or the online network's choice."""
    if bench.pieces.algorithm != "DQN":
        return known.min(-1).values
    return chosen_online(known, online) if bench.pieces.settings.get("double") else known.max(-1).values


def chosen_online(known: Tensor, online: Tensor) -> Tensor:
    """The next values [ROWS] of double DQN: the online network chooses, the target network values."""
    return known.gather(-1, online.argmax(-1, keepdim=True)).squeeze(-1)


def has_temperature(bench: Bench) -> bool:
    """Whether the temperature can be set, be it learnt or fixed."""
    pieces = bench.pieces
    held = (pieces.log_temperature, pieces.fixed_log_temperature, pieces.fixed_temperature)
    return any(one is not None for one in held)


@contextmanager
def temperature(bench: Bench, value: float) -> Generator[None, None, None]:
    """Within, the temperature of SAC is `value`; nothing happens where there is none."""
    torch = load_torch()

    pieces = bench.pieces
    plain_value = pieces.log_temperature is None and pieces.fixed_log_temperature is None
    held = pieces.fixed_temperature if plain_value else pieces.log_temperature
    held = pieces.fixed_log_temperature if held is None else held
    if held is None:
        yield
        return
    before = held.detach().clone()
    with torch.no_grad():
        held.fill_(value if plain_value else float(torch.tensor(value).log()))
    try:
        yield
    finally:
        with torch.no_grad():
            held.copy_(before)


def right_bootstrap(bench: Bench, found: Targets) -> Tensor:
    """The bootstrap [ROWS] of a correct target."""
    values = _right_values(bench, found.known, found.online)
    return found.expected(values, float(bench.setting("gamma")))


def target_network_counts(bench: Bench) -> bool:
    """Whether the critic's gradient changes when the target networks return other values."""
    torch = load_torch()

    found = bench.once(targets)
    critic = [w for w in bench.pieces.critics[0].parameters() if w.requires_grad]
    width = found.batch["obs"].reshape(ROWS, -1).shape[1]
    with made_up(bench.pieces.target_critics, width):
        one = gradients(bench.pieces, found.batch, bench.seed)
    own = gradients(bench.pieces, found.batch, bench.seed)
    assert one is not None
    assert own is not None
    return not torch.equal(vector(one, critic), vector(own, critic))


def through_target(bench: Bench) -> float:
    """Share of the critic's gradient that comes in where rows do not terminate and no stored action explains."""
    found = bench.once(targets)
    if found.mixed.residual_frac <= found.mixed.residual_error:
        return 0.0
    return max(0.0, found.mixed.residual_frac - found.terminal.residual_frac)


def next_log_probs(bench: Bench) -> tuple[Tensor, Tensor]:
    """Mean and spread [ROWS] of log pi of actions drawn at the next observations."""
    torch = load_torch()

    bench.need("act")
    copies = 400
    obs = bench.once(replay_batch)["next_obs"].repeat_interleave(copies, 0)
    with torch.no_grad():
        log_prob = cast(Any, bench.pieces.act)(obs)[1].reshape(ROWS, copies)
    return log_prob.mean(1), log_prob.std(1)
