"""The eighth list holds what collapsed in a trial, and makes its runs one by one."""

from __future__ import annotations

import json
import lzma
import math
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import eighth
import eighth_doses
import eighth_language
import eighth_reference_plants
import eighth_sb3_plants
from eighth import EIGHTH, with_lost_returns
from eighth_candidates import DOSES, doses_of
from eighth_draw import draw
from eighth_worlds import FAULTS

LIVE = Path(eighth.__file__).parent
BEFORE = ("faults", "unseen", "third", "fourth", "fifth", "sixth", "seventh")


def collapsed(left: float | str) -> bool:
    return not isinstance(left, float | int) or left < 0.5


def test_the_eighth_list_is_what_was_drawn_and_collapsed() -> None:
    chosen, rows = draw(), [json.loads(line) for line in (LIVE / "eighth_trials.jsonl").read_text().splitlines()]
    found = {(f, s): dose for f, s, dose, left in rows if f and collapsed(left)}
    listed = {(f["id"], s): f["dose"][s] for f in EIGHTH.faults().values() for s in f["subjects"]}
    assert listed == found
    for fault in EIGHTH.faults().values():
        link, subjects = chosen[fault["id"]]
        assert fault["link"] == link
        assert set(fault["subjects"]) == set(fault["dose"]) <= set(subjects)
    for fault, subject in {(f, s) for f, s, *_ in rows if f}:
        tried = [dose for f, s, dose, _ in rows if (f, s) == (fault, subject)]
        assert tried == list(doses_of(fault)[: len(tried)]), (fault, subject)
        assert (fault, subject) in found or len(tried) == len(doses_of(fault)), (fault, subject)
    without = {s: left for f, s, _, left in rows if not f}
    assert set(without) == {s for _, s in found}
    assert min(without.values()) > 0.7


def test_the_eighth_list_has_a_place_for_every_fault() -> None:
    for fault in EIGHTH.faults().values():
        for subject in fault["subjects"]:
            kind = subject.split("_")[0]
            language = {**eighth_language.PLANTS, **dict.fromkeys(eighth_language.PAID)}
            plants = {"sb3": eighth_sb3_plants.PLANTS, "grpo": language}.get(kind, eighth_reference_plants.PLANTS)
            assert fault["id"] in FAULTS or fault["id"] in plants, (fault["id"], subject)
            assert eighth_doses.dose_of(fault["id"], subject) == fault["dose"][subject]
    twins = [order for order in EIGHTH.orders() if not order[1]]
    assert len(twins) == 4 * len({subject for subject, _, _ in EIGHTH.orders()})
    assert set(DOSES) <= set(draw())


def test_nothing_of_the_eighth_list_is_in_the_lists_before() -> None:
    before = [f for name in BEFORE for f in tomllib.loads((LIVE / f"{name}.toml").read_text())["fault"]]
    assert not {f["id"] for f in before} & set(draw())
    assert not {s for f in before for s in f["subjects"]} & {s for s, _, _ in EIGHTH.orders()}


def test_a_return_without_number_is_all_lost() -> None:
    found = with_lost_returns([(1, 3.0), (2, 9.0), (3, math.nan), (4, math.inf)])
    assert found == [(1, 3.0), (2, 9.0), (3, 3.0), (4, 3.0)]
    assert with_lost_returns([(1, math.nan)]) == [(1, 0.0)]


def test_one_run_is_made_and_not_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    made: list[tuple[str, str, int]] = []

    def guarded(self: Any, subject: str, fault: str, seed: int) -> dict[str, Any]:
        made.append((subject, fault, seed))
        return {"episodes": [(1, 2.0), (2, math.nan)], "rows": []}

    monkeypatch.setattr(eighth.DrawnList, "guarded", guarded)
    orders = EIGHTH.orders()
    asked = ["eighth.py", "--only-number", "3", "--of", str(len(orders)), "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", asked)
    EIGHTH.record("")
    EIGHTH.record("")
    assert made == [orders[3]]
    (place,) = tmp_path.iterdir()
    found = json.loads(lzma.decompress(place.read_bytes()))
    assert found["episodes"] == [[1, 2.0], [2, 2.0]]
    assert found["returns_without_number"] == 1
    monkeypatch.setattr(sys, "argv", [*asked[:4], "1", *asked[5:]])
    with pytest.raises(SystemExit, match="There are"):
        EIGHTH.record("")
    monkeypatch.setattr(sys, "argv", ["eighth.py", "--count"])
    capsys.readouterr()
    EIGHTH.record("")
    assert int(capsys.readouterr().out) == len(orders)
