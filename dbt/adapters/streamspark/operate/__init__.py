"""Looking at streams and their consumers, and repairing them (DESIGN.md section 3.6). No dbt import."""
