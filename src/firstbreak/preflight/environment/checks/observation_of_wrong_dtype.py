"""The check `observation-of-wrong-dtype`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..troubles import first_trouble, told
from ..world import World


@check(
    "PEN006",
    "observation-of-wrong-dtype",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Cast to observation_space.dtype where the observation is returned.",
    explained_by=("observation-of-wrong-form",),
)
def look(world: World) -> Answer:
    """Observations have another dtype than their space declares.

    What is measured:
        Every reset and step of the recording; the first departure is kept, with the actions that lead to it made as
        few as possible.

    Why it hurts:
        Buffers allocated from the space round or wrap silently (float to uint8), and float64 doubles memory and mixes
        dtypes in torch.

    Usual causes:
        numpy computes in float64; reset and step build the observation differently; integers for floats.

    What to try:
        Convert once, at the end: np.asarray(x, dtype=self.observation_space.dtype).

    When it is harmless:
        float64 where float32 is declared, when the trainer converts.

    References:
        MyoSuite pull request 205.
    """
    trouble = first_trouble(world, "observation-dtype")
    if trouble is None:
        return None
    message = f"{trouble.where} from {trouble.call} is {trouble.message}"
    return told(world, "observation-of-wrong-dtype", trouble, message, "observation")
