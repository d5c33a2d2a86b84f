"""Give the recorded runs to the other tools and keep what they say, one file a tool under `answers/`.

    python benchmarks/faults/peers/run.py --folder FOLDER --tool NAME --python INTERPRETER [--path FOLDER ...]

`INTERPRETER` is one in which the tool is installed; `--path` adds folders to its import path, for a tool that is run
from its repository. `settings.toml` says what each is given and what its alarms mean. Run it from the root of the
repository; `score.py` then sets the tool beside firstbreak, which is given the same record.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2]))

from benchmarks.faults.scoring.corpus import Run, as_guarded, read_folder  # noqa: E402
from benchmarks.faults.scoring.logs import load_log  # noqa: E402
from firstbreak.runlog import RunLog  # noqa: E402

MESSAGE = 80
"""Characters that are kept of what a tool says."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--path", type=Path, action="append", default=[])
    parser.add_argument("--to", type=Path, default=HERE / "answers")
    args = parser.parse_args()
    settings = tomllib.loads((HERE / "settings.toml").read_text("utf-8"))[args.tool]
    answers = {said["id"]: said for said in asked(args, settings)}
    args.to.mkdir(parents=True, exist_ok=True)
    document = {
        "tool": args.tool,
        "version": settings["version"],
        "claims": sorted({link for links in settings["links"].values() for link in links}),
        "seconds": round(sum(said.get("seconds", 0.0) for said in answers.values()), 1),
    }
    lines = [f"{json.dumps(run)}: {json.dumps(kept(said, settings))}" for run, said in sorted(answers.items())]
    text = json.dumps(document, indent=1)[:-2] + ',\n "answers": {\n  ' + ",\n  ".join(lines) + "\n }\n}\n"
    (args.to / f"{args.tool}.json").write_text(text, "utf-8")
    failed = sum("error" in said for said in answers.values())
    print(f"{args.tool}: {len(answers)} runs, {failed} failed, {document['seconds']} s")


def kept(said: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer with the links of its alarms; a run that the tool failed on is a refusal."""
    if "error" in said:
        return {"alarms": [], "refused": said["error"]}
    return {
        "alarms": [
            {"name": name, "links": settings["links"].get(name, []), "at": at, "message": message[:MESSAGE]}
            for name, at, message in said["alarms"]
        ]
    }


def asked(args: argparse.Namespace, settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what the tool says of each run that is for it."""
    path = os.pathsep.join(str(one.resolve()) for one in args.path)
    command = [str(args.python), str(HERE / "child.py"), args.tool.replace("-", "_")]
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for run in (shown(one, settings) for one in read_folder(args.folder)):
            log = load_log(run)
            if not concerns(run, log, settings):
                continue
            child.stdin.write(json.dumps(fed(run, log, settings)) + "\n")
            child.stdin.flush()
            line = child.stdout.readline()
            if not line:
                sys.exit(f"{args.tool} ended by itself at {run.id}")
            yield json.loads(line)
        child.stdin.close()


def shown(run: Run, settings: Mapping[str, Any]) -> Run:
    """Return the run as the tool is shown it: the monitor's record, which is what firstbreak is scored on.

    A tool that reads tags knows those of the framework alone, which are its own format; it gets the framework's log.
    """
    return run if settings["gives"] == "keys" else as_guarded(run)


def concerns(run: Run, log: RunLog, settings: Mapping[str, Any]) -> bool:
    """Whether the tool says that it is for such runs."""
    algorithm = not settings["algorithms"] or algorithm_of(log) in settings["algorithms"]
    return algorithm and (not settings["frameworks"] or run.framework in settings["frameworks"])


def algorithm_of(log: RunLog) -> str:
    """Return the algorithm as other tools know it: they do not tell asynchronous GRPO from GRPO."""
    return "GRPO" if log.algorithm == "AsyncGRPO" else log.algorithm


def fed(run: Run, log: RunLog, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the tool is given: rows under its own field names, or the log's own keys."""
    given: dict[str, Any] = {
        "id": run.id,
        "algorithm": algorithm_of(log),
        "framework": run.framework,
        "end": run.end_step,
    }
    if settings["gives"] == "keys":
        return {**given, "keys": {key: list(map(list, curve)) for key, curve in run.keys.items()}}
    return {**given, "rows": rows_of(log, settings["fields"])}


def rows_of(log: RunLog, fields: Mapping[str, str]) -> list[dict[str, float]]:
    """Return the rows of a log under other names; of several metrics for one field the first that is logged counts."""
    taken: set[str] = set()
    found: dict[float, dict[str, float]] = {}
    for metric, field in fields.items():
        series = log.get(metric)
        if series is None or field in taken:
            continue
        taken.add(field)
        for step, value in zip(series.step.tolist(), series.value.tolist(), strict=True):
            found.setdefault(step, {"step": step})[field] = value
    return [found[step] for step in sorted(found)]


if __name__ == "__main__":
    main()
