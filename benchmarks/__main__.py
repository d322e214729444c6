"""`make bench` runs the benchmark of the leaf."""

from benchmarks.leaf import main

main()
