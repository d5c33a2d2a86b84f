"""A run on an MLflow tracking server, over its REST API (`/api/2.0/mlflow`); tried on a server of MLflow 3.17.

Address: what the browser shows, `http://HOST:PORT/#/experiments/E/runs/RUN_ID` (with or without `mlflow+` before it),
or `runs:/RUN_ID` on the server that MLFLOW_TRACKING_URI names. Credentials are read from MLFLOW_TRACKING_TOKEN, or
MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD; where MLFLOW_TRACKING_URI names another server they stay here.
"""

from __future__ import annotations

import os
import re
from typing import Any, cast

import numpy as np

from ...errors import InputError, UnreadableError
from ...runlog import Event, Problem, Recording
from ...series import Curve
from ..hyperparameters import exact
from ..points import as_number
from ..protocol import Options
from . import Remote
from .http import Server, basic, origin

KEYS = "the environment: MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"
ENDED = {"FINISHED": "finished", "FAILED": "crashed", "KILLED": "crashed"}
"""MLflow's `RunStatus`; RUNNING and SCHEDULED have not ended."""
PAGE = 25_000
"""Points asked for at once: the most that MLflow gives."""
LARGEST = float(np.finfo(np.float64).max)
"""What MLflow's database holds in place of infinity."""
_PAGE_ADDRESS = re.compile(
    r"(?:mlflow\+)?(https?://[^#?]+?)/*(?:\?[^#]*)?#/?experiments/[^/?]+/runs/([\w-]+)(?:[/?].*)?", re.IGNORECASE
)
_RUN_ADDRESS = re.compile(r"runs:/+([\w-]+)/*", re.IGNORECASE)


def recognise(address: str) -> bool:
    """Whether `address` names a run of MLflow."""
    return any(form.fullmatch(address) for form in (_PAGE_ADDRESS, _RUN_ADDRESS))


def fetch(address: str, options: Options) -> Recording:
    """Fetch metric histories, parameters, tags and state of the run at `address`."""
    root, run_id = _place(address)
    server = _server(root)
    recording = Recording(path=f"{root}/#/runs/{run_id}", reader="mlflow_server")
    run = _table(_table(server.get("/api/2.0/mlflow/runs/get", {"run_id": run_id})).get("run"))
    if not run:
        raise UnreadableError(
            f"{server.title} at {root} gave an answer without a run.", "Is it the address of an MLflow server?"
        )
    info, data = _table(run.get("info")), _table(run.get("data"))
    recording.run_name = _text(info.get("run_name")) or run_id
    recording.ended = ENDED.get(_text(info.get("status")), "")
    recording.config = {_text(row.get("key")): exact(_text(row.get("value"))) for row in _rows(data.get("params"))}
    recording.texts = {_text(row.get("key")): _text(row.get("value")) for row in _rows(data.get("tags"))}
    keys = [_text(row.get("key")) for row in _rows(data.get("metrics"))]
    for count, key in enumerate(keys, start=1):
        _fetch_metric(server, run_id, key, recording)
        # How much is still to come is not known; the metrics are of much the same size.
        options.progress(server.done, server.done * len(keys) // count)
    _finish(info, recording)
    return recording


def _place(address: str) -> tuple[str, str]:
    """Return the root of the server and the run's identifier."""
    page = _PAGE_ADDRESS.fullmatch(address)
    if page is not None:
        return page.group(1), page.group(2)
    run = _RUN_ADDRESS.fullmatch(address)
    assert run is not None
    root = os.environ.get("MLFLOW_TRACKING_URI", "").strip().rstrip("/")
    if not root:
        raise InputError(
            "An address runs:/RUN_ID needs the server, and MLFLOW_TRACKING_URI is not set.",
            "Set it to http://HOST:PORT, or give http://HOST:PORT/#/experiments/E/runs/RUN_ID.",
        )
    if not root.lower().startswith(("http://", "https://")):
        raise InputError(
            "MLFLOW_TRACKING_URI is not the address of a server (http://HOST:PORT).",
            "Give the folder of the run, <store>/<experiment>/<run>, itself.",
        )
    return root, run.group(1)


def _server(root: str) -> Server:
    home = os.environ.get("MLFLOW_TRACKING_URI", "").strip()
    foreign = home.lower().startswith(("http://", "https://")) and origin(home) != origin(root)
    token = "" if foreign else os.environ.get("MLFLOW_TRACKING_TOKEN", "")
    user = "" if foreign else os.environ.get("MLFLOW_TRACKING_USERNAME", "")
    password = os.environ.get("MLFLOW_TRACKING_PASSWORD", "") if user else ""
    credentials = basic(user, password) if user else f"Bearer {token}" if token else ""
    headers = {"Authorization": credentials} if credentials else {}
    return Server(root, "the MLflow server", KEYS, headers, (credentials, password, token))


def _fetch_metric(server: Server, run_id: str, key: str, recording: Recording) -> None:
    """Fetch every page of one metric's history."""
    columns: tuple[list[float], list[float], list[float]] = ([], [], [])
    bad, token = 0, ""
    seen: set[str] = set()
    while True:
        query = {"run_id": run_id, "metric_key": key, "max_results": str(PAGE)} | (
            {"page_token": token} if token else {}
        )
        answer = _table(server.get("/api/2.0/mlflow/metrics/get-history", query))
        for row in _rows(answer.get("metrics")):
            point = [
                as_number(row.get(name, default)) for name, default in (("step", 0), ("value", None), ("timestamp", 0))
            ]
            if any(number is None for number in point):
                bad += 1
                continue
            for column, number in zip(columns, cast("list[float]", point), strict=True):
                column.append(number)
        token = _text(answer.get("next_page_token"))
        if not token or token in seen:
            break
        seen.add(token)
    if token:
        what = "the server gave the same page twice; what follows it is missing."
        recording.problems.append(Problem(recording.path, key, what))
    if bad:
        recording.problems.append(Problem(recording.path, key, f"{bad} points are not numbers; they were left out."))
    if columns[0]:
        step, value, wall = (np.array(column, dtype=np.float64) for column in columns)
        value[np.abs(value) == LARGEST] *= np.inf
        recording.curves[key] = Curve(step, value, wall / 1000.0)


def _finish(info: dict[str, Any], recording: Recording) -> None:
    walls = [float(curve.wall.max()) for curve in recording.curves.values() if curve.wall is not None]
    recording.modified = max(walls, default=(as_number(info.get("start_time")) or 0.0) / 1000.0)
    last = max((float(curve.step.max()) for curve in recording.curves.values()), default=None)
    if recording.ended and last is not None:
        recording.events.append(Event("end", last, _text(info.get("status")).lower()))
    if last is None:
        recording.problems.append(Problem(recording.path, "", "it holds no metric (yet)."))


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _rows(value: Any) -> list[dict[str, Any]]:
    return [_table(row) for row in cast("list[Any]", value)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


REMOTE = Remote(
    name="mlflow_server",
    title="an MLflow server",
    form="http://HOST:PORT/#/experiments/E/runs/RUN_ID of MLflow",
    recognise=recognise,
    fetch=fetch,
)
