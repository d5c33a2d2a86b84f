"""`inspect_policy`: a policy's answers against the action space, and an expert's returns against chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...check import look_at_all, pack
from ...errors import InputError
from ...inspection import Inspection, inspection
from ...isolation import How, Limits, run
from ..child import Heard, place
from ..environment.loading import source_of
from .asking import Policy, alike, ask, noted, policy_of
from .baselines import EPISODES, compare_returns, earn, finite
from .trial import PolicyTrial

if TYPE_CHECKING:
    from ...isolation.child import Wire
    from ...isolation.journal import Journal

TASK = "firstbreak.preflight.policy.api:task"


def inspect_policy(
    world: Any,
    policy: str | Policy | None = None,
    expert: str | Policy | None = None,
    *,
    episodes: int = EPISODES,
    limits: Limits | None = None,
) -> Inspection:
    """Check a policy against the action space of `world`, and an expert against random play.

    Args:
        world: a Gymnasium id, `module:factory`, a factory, or a recorded `World`.
        policy: `module:fn` or a function from observation to action.
        expert: the same, for a policy that should clearly beat chance.
        episodes: episodes of each baseline.
        limits: of the child process, in which everything runs that was given as text.

    Raises:
        InputError: neither a policy nor an expert was given, or a text names nothing.
    """
    if policy is None and expert is None:
        raise InputError(
            "There is no policy and no expert to inspect.", "Give --policy module:fn or --expert module:fn"
        )
    given = (world, policy, expert)
    if all(g is None or isinstance(g, str) for g in given):
        return _in_child(str(world), policy, expert, episodes, limits)
    trial = try_out(world, policy, expert, episodes)
    return inspection("policy", trial.target, look_at_all("policy", trial), details=details_of(trial))


def try_out(
    world: Any, policy: str | Policy | None, expert: str | Policy | None, episodes: int, journal: Journal | None = None
) -> PolicyTrial:
    """Play the policy and the baselines in this process and return what came of it; calls go into `journal`."""
    make = factory_of(world, journal)
    env = make()
    trial = PolicyTrial(_name(world), env.action_space, policy=_name(policy), expert=_name(expert))
    env.close()
    if policy is not None:
        ask(make, _policy(policy, "policy", journal), trial)
    if expert is not None:
        trial.random_returns = earn(make, None, episodes)
        try:
            trial.expert_returns = earn(make, _policy(expert, "expert", journal), episodes)
        except (Exception, SystemExit) as error:
            trial.expert_error = f"{type(error).__name__}: {error}"[:200]
    return trial


def details_of(trial: PolicyTrial) -> dict[str, Any]:
    """Return the numbers of the report: what the policy answered and what the baselines earned."""
    details: dict[str, Any] = {"policy": trial.policy, "expert": trial.expert, "answers": len(trial.answers)}
    if trial.answers:
        details["stochastic"] = stochastic(trial)
    for name, returns in (("random", trial.random_returns), ("expert", trial.expert_returns)):
        if returns is not None and len(returns):
            details[f"{name}_return_mean"] = float(returns.mean())
            details[f"{name}_return_sd"] = float(returns.std())
            details[f"{name}_episodes"] = len(returns)
    rows = [
        [name, len(r), round(float(r.mean()), 3), round(float(r.std()), 3)]
        for name, r in (("random", trial.random_returns), ("expert", trial.expert_returns))
        if r is not None and len(r)
    ]
    if rows:
        columns = ["policy", "episodes", "mean return", "standard deviation"]
        details["tables"] = [{"title": "Returns", "columns": columns, "rows": rows}]
    both = (trial.random_returns, trial.expert_returns)
    if trial.random_returns is not None and trial.expert_returns is not None and all(map(finite, both)):
        compared = compare_returns(trial.random_returns, trial.expert_returns)
        details |= {"difference": compared.difference, "low": compared.low, "high": compared.high}
        details["expert_better_frac"] = compared.better
    return details


def stochastic(trial: PolicyTrial) -> bool:
    """Whether the policy gave two answers to the same observation."""
    return any(not alike(a, b) for a, b in zip(trial.answers, trial.again, strict=False))


def factory_of(world: Any, journal: Journal | None = None) -> Callable[[], Any]:
    """Return how to make the environment that `world` names.

    Raises:
        InputError: it is neither a text, a factory nor a recorded world.
        MissingExtraError: it is a Gymnasium id and Gymnasium is not installed.
    """
    if hasattr(world, "make"):
        return world.make
    if isinstance(world, str) or callable(world):
        return source_of(world, journal).make
    raise InputError(f"{world!r} is no environment.", "Give a Gymnasium id, module:factory, or a factory.")


def _policy(given: str | Policy, call: str, journal: Journal | None) -> Policy:
    policy = policy_of(given)
    return policy if journal is None else noted(policy, call, journal)


def _name(given: Any) -> str:
    if given is None or isinstance(given, str):
        return given or ""
    return str(getattr(given, "target", "") or getattr(given, "__name__", type(given).__name__))


def _in_child(world: str, policy: Any, expert: Any, episodes: int, limits: Limits | None) -> Inspection:
    heard = Heard()
    payload = {"world": world, "policy": policy, "expert": expert, "episodes": episodes}
    ending = run(TASK, payload, limits=limits or Limits(silence_s=120.0), hear=heard)
    notes = [*filter(None, [ending.copies.words])]
    if ending.how is not How.FINISHED:
        notes.append(f"stopped early ({ending.how}) in {place(ending)}: {ending.message}"[:300])
    return inspection("policy", world, heard.looks, details=heard.details, notes=notes)


def task(payload: Mapping[str, Any], wire: Wire) -> None:
    """Run in the child: play, look, tell."""
    trial = try_out(payload["world"], payload["policy"], payload["expert"], int(payload["episodes"]), wire.journal)
    wire.tell("details", details=details_of(trial))
    look_at_all("policy", trial, lambda look: wire.tell("look", look=pack(look)))
