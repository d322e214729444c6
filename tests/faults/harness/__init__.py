"""Crashes and races of consumers, many of them: one JVM stays up, and the processes that use it are killed.

`python -m tests.faults.harness --help` says what one command does. A case is replayed by its seed and number.
"""
