"""Looks at what the model does: samples, tool calls, verifiers and reward models, beside what the metrics say."""
