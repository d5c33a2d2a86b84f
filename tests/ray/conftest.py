"""RLlib needs an older Gymnasium than the rest, so its tests run in an environment of their own (`make test-ray`)."""

from __future__ import annotations

import os
from importlib.util import find_spec

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
collect_ignore_glob = [] if find_spec("ray") else ["test_*.py"]
