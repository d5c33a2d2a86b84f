"""One module a framework, imported by name: `from firstbreak.monitor.adapters.sb3 import MonitorCallback`.

Each reads what its framework knows without the delays of the framework's own logger, measures what it does not log,
and does what a verdict says. None changes a weight, a mode or a random number of a run that goes on.
"""
