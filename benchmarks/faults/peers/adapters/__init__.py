"""One file a tool: `alarms(run)` returns (kind, step, message) of what it says of one run."""
