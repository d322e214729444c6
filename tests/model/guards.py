"""The guards of the protocol: what each prevents, and where it is in the code. The model runs with any of them removed."""

from __future__ import annotations

# name -> (what is done when it is there, where)
NEEDED = {
    "sequence": (
        "txn is the number of the consumption, not the source's version",
        "consume/planner.py, Plan.consumption",
    ),
    "verify": ("after the statement the log is looked through for this attempt", "consume/commit.py, _landed"),
    "attempt": ("it looks for the attempt's id, not for its number", "consume/commit.py, _landed"),
    "one commit": ("rows and offset are in one commit", "consume/confs.py"),
    "plan again": (
        "whoever came second plans again, and does not repeat its rows",
        "consume/statements.py, plan_again",
    ),
    "end": ("an interval never ends before its start", "consume/planner.py, _end"),
    "restore": ("a RESTORE takes the offset back with the rows", "consume/cursor.py, _Walk._look_at"),
    "seen": ("a RESTORE between plan and commit is noticed when the cursor is read", "consume/cursor.py, rewound"),
    "seen at verify": ("the same, by the run that made the commit", "consume/commit.py, _check_not_rewound"),
    "replaced": ("a table that somebody else replaced has no offset", "consume/cursor.py, _Walk._consumption"),
    "log end": ("a number without an offset is an error, not a start from zero", "consume/cursor.py, _Walk._log_ends"),
    "txn kept": ("a table that forgets transactions is refused", "consume/target.py, refuse_target"),
    "conflict": ("Delta refuses a commit when another of this consumer came since it began", "Delta"),
}
# Nothing goes wrong without them, but runs end with an error that a second plan spares them.
COMFORT = {
    "seen before": ("a RESTORE since the plan is looked for before the write too", "consume/commit.py, _check_target"),
    "above": ("the next number is above the stored one, not above the restored one", "consume/cursor.py, _Walk.cursor"),
}
GUARDS = frozenset(NEEDED | COMFORT)
