"""The measures of a sample, one file each; the folder is the registry."""
