"""Runs in the interpreter of one tool: reads runs from standard input, a JSON line each, and answers each in a line.

`python child.py ADAPTER`. What a tool raises is told with the run and costs that run's answer, nothing else.
"""

import contextlib
import importlib.util
import io
import json
import logging
import sys
import time
import warnings
from pathlib import Path


def load(name):
    place = Path(__file__).resolve().parent / "adapters" / f"{name}.py"
    # Under a name of its own: the file is named like the package that it imports.
    spec = importlib.util.spec_from_file_location(f"adapter_of_{name}", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(adapter, run):
    began = time.perf_counter()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = adapter.alarms(run)
    except Exception as error:
        return {"id": run["id"], "error": f"{type(error).__name__}: {error}"[:300]}
    alarms = [[str(name), float(at), str(message)[:200]] for name, at, message in found]
    return {"id": run["id"], "alarms": alarms, "seconds": round(time.perf_counter() - began, 4)}


def main():
    sys.path.pop(0)  # else the folder of this file would hide the tools' own packages
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    adapter = load(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(answer(adapter, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
