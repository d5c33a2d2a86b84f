"""The rungs of the ladder, one file each; the code is the order of climbing."""
