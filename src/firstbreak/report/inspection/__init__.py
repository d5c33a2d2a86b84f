"""The faces of what was inspected before a run: environments, rewards, tasks, trainers, data, memory."""
