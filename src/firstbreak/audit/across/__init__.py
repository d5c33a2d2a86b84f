"""What is told by comparing samples with one another: within a prompt, and from prompt to prompt."""
