"""Targets written `module:name` or `file.py:name`: imported with the working directory on the path.

Importing runs the user's code, so it is done in the child process wherever there is one.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from .errors import FirstbreakError, InputError, UnknownNameError, unknown_name


def is_target(text: str) -> bool:
    """Whether `text` has the form of a target; a Gymnasium id such as `CartPole-v1` or `ALE/Pong-v5` has not."""
    module, colon, name = text.partition(":")
    return bool(colon and module) and all(part.isidentifier() for part in name.split("."))


def need_target(text: str) -> None:
    """Refuse what can be no target, without importing anything.

    Raises:
        InputError: `text` is not `module:name`, or its file is not there.
    """
    if not is_target(text):
        raise InputError(f"{text!r} is not module:name.", "For example: my_envs:make_env, or train.py:train")
    where = text.partition(":")[0]
    if where.endswith(".py") and not Path(where).is_file():
        raise InputError(f"{where}: no such file.", "Write the path from this folder, then a colon and the name.")


def load_target(text: str) -> Any:
    """Import `module:name` or `path/to/file.py:name` and return what it names.

    Raises:
        InputError: `text` is not of this form, there is no such module, or it raises while it is imported.
        UnknownNameError: the module holds no such name; the hint offers the nearest.
    """
    need_target(text)
    where, _, name = text.partition(":")
    try:
        module = _from_file(Path(where)) if where.endswith(".py") else _by_name(where)
    except FirstbreakError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{where} cannot be imported: {type(error).__name__}: {error}"[:500],
            f"Mend it until this works: {_trial(where)}",
        ) from error
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            error = unknown_name(f"name in {where}", part, [n for n in dir(found) if not n.startswith("_")])
            raise UnknownNameError(error.message, error.hint or f"Does {where} define {part} at its top level?")
        found = getattr(found, part)
    return found


def _trial(where: str) -> str:
    """Return a command that shows the whole traceback of an import."""
    return f"python {where}" if where.endswith(".py") else f'python -c "import {where}"'


def _by_name(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(error.name + ".")):
            raise
        raise InputError(
            f"No module named {name!r}.", f"It is looked for in this folder and in the packages of {sys.executable}."
        ) from error


def _from_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(path.stem, None)  # half a module is none
        raise
    return module
