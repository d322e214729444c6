"""`make bench` runs the benchmark of the leaf; `python -m benchmarks.queries` that of change queries."""

from benchmarks.leaf import main

main()
