"""Rules of the link `evaluation_protocol`, one file each."""
