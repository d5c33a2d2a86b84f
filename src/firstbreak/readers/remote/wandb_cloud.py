"""A run on Weights & Biases, over GraphQL. Unverified: made from wandb's public client, never tried on a real answer.

Address: `https://wandb.ai/ENTITY/PROJECT/runs/ID`. The key is read from WANDB_API_KEY and goes to one place only: to
the server that WANDB_BASE_URL names, by default https://api.wandb.ai. System metrics are not fetched.

References:
    wandb/apis/public/runs.py and history.py of wandb 0.2x (queries, `config`, `historyKeys`, basic authentication).
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import unquote

from ...errors import InputError, UnreadableError
from ...runlog import Event, Problem, Recording
from ..points import NotJsonError, Points, as_number, parse_json
from ..protocol import Options
from . import Remote
from .http import Server, basic

KEYS = "the environment: WANDB_API_KEY"
HOME = "https://api.wandb.ai"
ENDED = {"finished": "finished", "crashed": "crashed", "failed": "crashed", "killed": "crashed"}
"""States in which nothing more will come; running, pending, preempting and preempted runs may go on."""
PAGE = 1000
"""Rows asked for at once, as the public client does."""
NARROWEST = PAGE // 2
"""Steps of the stretch that is asked for without fear that the server thins it."""
INTERNAL = ("_wandb", "wandb_version")
AXES = ("_step", "_timestamp", "_runtime", "_wandb")
"""History keys that place a row rather than being logged by the user."""
RUN = """query Run($entity: String!, $project: String!, $name: String!) {
 project(name: $project, entityName: $entity) { run(name: $name) {
  displayName state config createdAt heartbeatAt historyLineCount historyKeys } } }"""
HISTORY = """query HistoryPage($entity: String!, $project: String!, $name: String!,
 $minStep: Int64!, $maxStep: Int64!, $pageSize: Int!) {
 project(name: $project, entityName: $entity) { run(name: $name) {
  history(minStep: $minStep, maxStep: $maxStep, samples: $pageSize) } } }"""
_ADDRESS = re.compile(r"(https?://[^/?#]+)/([^/?#]+)/([^/?#]+)/runs/([^/?#]+)(?:[/?#].*)?", re.IGNORECASE)


def recognise(address: str) -> bool:
    """Whether `address` is the page of a run."""
    return _ADDRESS.fullmatch(address) is not None


@dataclass(frozen=True)
class _Run:
    server: Server
    entity: str
    project: str
    name: str

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """Return what the server says of the run."""
        whose = {"entity": self.entity, "project": self.project, "name": self.name}
        body = json.dumps({"query": query, "variables": {**whose, **variables}}).encode()
        answer = _table(self.server.post("/graphql", body))
        errors = answer.get("errors")
        if isinstance(errors, list) and errors:
            said = self.server.said(str(_table(cast("list[Any]", errors)[0]).get("message", "")))
            raise UnreadableError(
                f"{self.server.title} refuses the question: {said}", "Export the run, or give its run-*.wandb file."
            )
        run = _table(_table(_table(answer.get("data")).get("project")).get("run"))
        if not run:
            raise InputError(
                f"{self.server.title} shows no run {self.name!r} in {self.entity}/{self.project}.",
                "Check the address; a private run needs WANDB_API_KEY of somebody who may see it.",
            )
        return run


def fetch(address: str, options: Options) -> Recording:
    """Fetch history, configuration and state of the run at `address`."""
    page = _ADDRESS.fullmatch(address)
    assert page is not None
    entity, project, name = (unquote(part) for part in page.groups()[1:])
    run = _Run(_server(), entity, project, name)
    recording = Recording(path=f"{page.group(1)}/{entity}/{project}/runs/{name}", reader="wandb_cloud")
    head = run.ask(RUN)
    recording.run_name = str(head.get("displayName") or name)
    recording.ended = ENDED.get(str(head.get("state")), "")
    recording.config = _config(head.get("config"), recording)
    recording.modified = _moment(head.get("heartbeatAt"))
    points, started = Points(), _moment(head.get("createdAt")) or math.nan
    step = -1.0
    for row in _history(run, head, recording, options):
        step = _take(row, step, started, points)
    recording.curves = points.curves()
    recording.texts.update(points.texts)
    recording.problems.extend(Problem(recording.path, "", sentence) for sentence in points.unread_sentences())
    if recording.ended:
        recording.events.append(Event("end", max(step, 0.0), str(head.get("state"))))
    if not recording.curves:
        recording.problems.append(Problem(recording.path, "", "it holds no metric (yet)."))
    return recording


def _server() -> Server:
    key = os.environ.get("WANDB_API_KEY", "").strip()
    credentials = basic("api", key) if key else ""
    root = os.environ.get("WANDB_BASE_URL", "").strip().rstrip("/") or HOME
    headers = {"Authorization": credentials} if key else {}
    return Server(root, "Weights & Biases", KEYS, headers, (credentials, key))


def _history(run: _Run, head: dict[str, Any], recording: Recording, options: Options) -> Iterator[dict[str, Any]]:
    """Yield every row in order of its step.

    The server thins a stretch that holds more rows than were asked for. A row has a step of its own, so a stretch of
    `NARROWEST` steps is always whole; a wider one counts as whole where under half of what was asked for came back.
    """
    last = as_number(_table(head.get("historyKeys")).get("lastStep"))
    lines = as_number(head.get("historyLineCount")) or 0.0
    end = int(last) + 1 if last is not None and math.isfinite(last) else 0
    if last is None:
        recording.problems.append(Problem(recording.path, "", "the server does not say how far its history goes."))
    lo, width = 0, max(NARROWEST, int(0.25 * PAGE * end / lines) if lines >= 1 else end)
    not_json = given = 0
    while lo < end:
        hi = min(lo + width, end)
        answer = run.ask(HISTORY, minStep=lo, maxStep=hi, pageSize=PAGE).get("history")
        texts = cast("list[Any]", answer) if isinstance(answer, list) else []
        if len(texts) >= PAGE // 2 and width > NARROWEST:
            width = max(NARROWEST, width // 4)
            continue
        rows, bad = _parsed(texts)
        # Whether the end of a stretch belongs to it is not documented.
        own = [row for row in rows if lo <= (as_number(row.get("_step", lo)) or 0.0) < hi]
        not_json, given = not_json + bad, given + len(own)
        yield from own
        lo, width = hi, width * 2 if len(texts) < PAGE // 8 else width
        options.progress(run.server.done, run.server.done * end // hi)
    if given + not_json < lines and last is not None:
        what = f"{given} of {lines:.0f} rows came; the server left out the others."
        recording.problems.append(Problem(recording.path, "", what))
    if not_json:
        recording.problems.append(Problem(recording.path, "", f"{not_json} rows are not JSON; they were left out."))


def _parsed(texts: list[Any]) -> tuple[list[dict[str, Any]], int]:
    """Return the rows that `texts` hold as JSON, and how many hold none."""
    rows: list[dict[str, Any]] = []
    for text in texts:
        try:
            row = _table(parse_json(text) if isinstance(text, str) else text)
        except NotJsonError:
            row = {}
        if row:
            rows.append(row)
    return rows, len(texts) - len(rows)


def _take(row: dict[str, Any], before: float, started: float, points: Points) -> float:
    """Add one history row and return its step."""
    axes = {key: as_number(row.get(key)) for key in AXES}
    step = axes["_step"] if axes["_step"] is not None else before + 1
    since = axes["_runtime"] if axes["_runtime"] is not None else math.nan
    wall = axes["_timestamp"] if axes["_timestamp"] is not None else started + since
    for key, value in row.items():
        if key not in AXES:
            points.add_json(key, step, wall, value)
    return step


def _config(text: Any, recording: Recording) -> dict[str, Any]:
    """Return the settings out of `{"name": {"value": ..., "desc": ...}}`, which is sent as text."""
    try:
        raw = _table(parse_json(text) if isinstance(text, str) else text)
    except NotJsonError:
        recording.problems.append(Problem(recording.path, "config", "it is not JSON; no setting is known."))
        return {}
    return {key: _table(item).get("value", item) for key, item in raw.items() if key not in INTERNAL}


def _moment(text: Any) -> float:
    """Return an ISO time (UTC where it does not say) in seconds since the epoch, 0 when it is none."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


REMOTE = Remote(
    name="wandb_cloud",
    title="Weights & Biases",
    form="https://wandb.ai/ENTITY/PROJECT/runs/ID",
    recognise=recognise,
    fetch=fetch,
    verified=False,
)
