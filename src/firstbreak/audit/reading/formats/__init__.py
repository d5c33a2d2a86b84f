"""The formats: every module of this package that holds a `DUMP`."""
