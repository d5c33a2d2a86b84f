"""Generator 5, written after the checks and without reading them: records as JSON, from delivery notes in words."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

from task import Task

Fields = dict[str, Any]

FIRMS = ["Arbor", "Bellweather", "Corvin", "Dunmore", "Eskdale", "Farrow", "Gallant", "Hollis", "Ivory", "Juniper"]
KINDS = ["Supplies", "Foods", "Optics", "Textiles", "Garden", "Print", "Marine", "Tools"]
PEOPLE = ["R. Okafor", "T. Lindqvist", "M. Duarte", "S. Banerjee", "K. Novotny", "L. Moreau", "P. Adeyemi", "H. Sato"]
PLACES = ["Leeds", "Porto", "Gdansk", "Utrecht", "Lyon", "Graz", "Bergen", "Turku", "Ghent", "Brno", "Cork"]
WARES = ["lamp oil", "packing tape", "seed trays", "brass hooks", "printer ink", "sailcloth", "flour sacks",
         "copper wire", "floor wax", "glass jars"]  # fmt: skip
CARRIERS = ["rail", "van", "barge", "courier", "lorry"]
EXAMPLE: Fields = {"firm": "Example Ltd", "ware": "paper", "boxes": 1, "net_kg": 10, "to": "Anytown", "by": "van"}
"""The example that every prompt shows."""


@dataclass(frozen=True)
class Record(Task):
    """A note, and the object that is asked for; what answers are made of are fields, not sentences."""

    fields: Fields = field(default_factory=dict[str, Any])
    wrong_fields: Fields = field(default_factory=dict[str, Any])
    extras: Fields = field(default_factory=dict[str, Any])
    """True things that the note says besides, by a key of their own."""
    items: tuple[Fields, ...] = ()
    """The boxes one by one."""

    def write(self, rng: Random, right: bool, chars: int = 0) -> str:
        """Return the object; of about `chars` characters if given, by more or less of what the note says besides."""
        return shown(rng, self.grown(rng, dict(self.fields if right else self.wrong_fields), chars))

    def grown(self, rng: Random, made: Fields, chars: int) -> Fields:
        """Return the object with further true fields, and boxes, until it has about `chars` characters."""
        wanted = chars or rng.choice((0, 0, 150, 220, 320, 500))
        for key in rng.sample(sorted(self.extras), len(self.extras)):
            if len(json.dumps(made)) >= wanted:
                break
            made[key] = self.extras[key]
        listed: list[Fields] = []
        for item in self.items:
            if len(json.dumps({**made, "items": listed})) >= wanted:
                break
            listed.append(item)
        return {**made, "items": listed} if listed else made


def shown(rng: Random, made: Fields) -> str:
    """Set an object as answers do: on one line or several, fenced or not."""
    text = json.dumps(made, indent=rng.choice((None, None, 2)))
    return f"```json\n{text}\n```" if rng.random() < 0.3 else text


def records(rng: Random) -> Record:
    """Return a delivery note and the object that is to be read from it."""
    firm, ware = f"{rng.choice(FIRMS)} {rng.choice(KINDS)}", rng.choice(WARES)
    boxes, each = rng.randint(2, 40), rng.randint(2, 60)
    place, start = rng.sample(PLACES, 2)
    by, signer, number = rng.choice(CARRIERS), rng.choice(PEOPLE), f"{rng.choice('ABDK')}-{rng.randint(1000, 9999)}"
    day = f"{rng.randint(1, 28)} {rng.choice(('March', 'May', 'June', 'October'))}"
    gate, spare = rng.randint(1, 12), rng.randint(2, 9)
    note = " ".join((
        rng.choice((f"{firm} sent {boxes} boxes of {ware} from {start} to {place} by {by}.",
                    f"On its way to {place} by {by}: {boxes} boxes of {ware}, sent from {start} by {firm}.")),
        rng.choice((f"Each box holds {each} kg net.", f"Net, a box weighs {each} kg.")),
        rng.choice((f"{signer} signed note {number} on {day}.", f"Note {number}, {day}, signed {signer}.")),
        rng.choice((f"The driver used gate {gate}.", f"Gate {gate} was open, and {spare} pallets went back.")),
    ))  # fmt: skip
    keys = ", ".join(EXAMPLE)
    ask = rng.choice((f"Return JSON with the keys {keys}.", f"Fill in an object with {keys}; answer in JSON only."))
    fields: Fields = {"firm": firm, "ware": ware, "boxes": boxes, "net_kg": boxes * each, "to": place, "by": by}
    changes: Fields = {
        "net_kg": rng.choice((each, boxes + each, boxes * each + rng.choice((10, -1, 100)))), "to": start,
        "ware": rng.choice([w for w in WARES if w != ware]), "boxes": boxes + rng.choice((-1, 1, 10)),
    }  # fmt: skip
    wrong = {**fields, **{key: changes[key] for key in rng.sample(sorted(changes), rng.randint(1, 2))}}
    extras: Fields = {
        "from": start, "note": number, "signed": signer, "day": day, "gate": gate, "kg_each": each, "pallets": spare,
    }  # fmt: skip
    items = tuple(
        {"box": k + 1, "kg": each, "mark": f"{rng.choice('PQRST')}{rng.randint(10, 99)}"} for k in range(boxes)
    )  # fmt: skip
    order = rng.sample(sorted(fields), len(fields))
    fields, wrong = ({key: some[key] for key in order} for some in (fields, wrong))
    return Record(
        f"{note} {ask} For example: {json.dumps(EXAMPLE)}", json.dumps(fields), json.dumps(wrong),
        (firm, ware, place, start, by, signer, number, "boxes", "net", "gate"), (note,), (note,), "{}", (note,), (),
        (), fields=fields, wrong_fields=wrong, extras=extras, items=items,
    )  # fmt: skip
