"""The probes as Gymnasium environments: `firstbreak/ConstantValue-v0`, `firstbreak/ConstantValueContinuous-v0`, ...

Importing this module registers them, so `gymnasium.make("firstbreak.probes.register:firstbreak/ConstantValue-v0")`
works in a script that knows nothing of firstbreak.
"""

from __future__ import annotations

from typing import Any, cast

from ..errors import missing_extra
from .environments.factories import WORLDS
from .environments.world import KINDS, Kind

NAMESPACE = "firstbreak"


def env_id(world: str, kind: Kind = "discrete", *, importing: bool = False) -> str:
    """Return the Gymnasium id of a world; with `importing` in the form that imports this module first."""
    name = f"{NAMESPACE}/{world}{'Continuous' if kind == 'continuous' else ''}-v0"
    return f"{__name__}:{name}" if importing else name


def register() -> list[str]:
    """Register every probe with Gymnasium, once; return the ids.

    Raises:
        MissingExtraError: Gymnasium is not installed.
    """
    try:
        import gymnasium

        register_one = cast("Any", gymnasium).register
    except ImportError as error:
        raise missing_extra("gymnasium", "gym", "A probe environment") from error
    ids: list[str] = []
    for world in WORLDS:
        for kind in KINDS:
            ids.append(env_id(world, kind))
            if ids[-1] not in gymnasium.registry:
                register_one(ids[-1], entry_point=make_registered, kwargs={"world": world, "kind": kind})
    return ids


def make_registered(world: str, kind: Kind, **ignored: Any) -> Any:
    """Return the environment behind an id; under `--script` it writes down what it sees."""
    from .environments.automaton import Automaton
    from .environments.record import recorder

    del ignored
    return Automaton(WORLDS[world], kind, recorder())


register()
