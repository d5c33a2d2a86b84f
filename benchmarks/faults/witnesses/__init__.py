"""Runs in which nothing is wrong and whose log is that of a faulty run, digit by digit.

Some faults cannot be told from one log: a motor that a bug has made weak leaves the log of a sound training with a weak
motor. That is said here by example, not by argument. A *witness* of a kind of run (a fault at a subject and task, from
the first step) is the same trainer with the same settings and seed on a task that its author means as it is, written
out as a class of its own, with nothing of the benchmark's machinery that plants faults. Its log is compared with that
of the faulty run, row by row. Where both are equal, whatever is a function of the log answers both alike: an alarm on
the fault is a false alarm on the witness.

`python -m benchmarks.faults.witnesses` makes and compares them and writes `witnesses.json`.
"""
