"""A release: the table after training as an artefact. What was run, what it scored over seeds, and go or no-go."""
