"""Settings for every test: repeatable Hypothesis runs that never fail for being slow."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("firstbreak", deadline=None, derandomize=True, database=None)
settings.load_profile("firstbreak")
