"""Looking at streams and their consumers, and repairing them (docs/reference/operations.md). No dbt import."""
