"""Settings for every test: repeatable Hypothesis runs that never fail for being slow, and a Ctrl-C that is heard."""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("firstbreak", deadline=None, derandomize=True, database=None)
settings.load_profile("firstbreak")

# A job that a script puts into the background ignores Ctrl-C, and so do all that it starts: tests that press it in a
# child would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
