"""From trainers that are known to their token pieces."""
