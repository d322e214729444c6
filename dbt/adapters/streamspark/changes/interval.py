"""What one base table did between two versions, read from its log: the input of every reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dbt.adapters.streamspark.changes.file_changes import INITIAL_ROWS, FileChanges, file_changes
from dbt.adapters.streamspark.changes.log import Commit, TableLog
from dbt.adapters.streamspark.changes.projection import Projection
from dbt.adapters.streamspark.changes.rewinds import makes_anew
from dbt.adapters.streamspark.changes.schemas import Schemas
from dbt.adapters.streamspark.errors import BrokenSource, InvalidInterval

TRACKING = "delta.enableRowTracking"


@dataclass(frozen=True)
class Interval:
    """(start, end] of one table; `start` None is the beginning: all rows at `end` as inserts.

    Raises InvalidInterval when it ends before it starts or beyond the table, StaleSource when a commit of it is
    gone, BrokenSource when row tracking was off inside it (`check_tracking`).
    """

    log: TableLog
    start: int | None
    end: int
    projection: Projection = field(default_factory=Projection)
    unique_key: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.end > self.log.version:
            raise InvalidInterval(f"table {self.log.name} has no version {self.end}: its newest is {self.log.version}")
        if self.start is not None and self.start > self.end:
            raise InvalidInterval(
                f"table {self.log.name}: the interval ends ({self.end}) before it starts ({self.start})"
            )

    @cached_property
    def commits(self) -> Sequence[Commit]:
        return () if self.start is None else self.log.commits(self.start, self.end)

    @cached_property
    def files(self) -> FileChanges:
        return file_changes(self.commits)

    @cached_property
    def schemas(self) -> Schemas:
        changed = any(commit.metadata or commit.protocol for commit in self.commits)
        replaced = max((commit.version for commit in self.commits if makes_anew(commit)), default=-1)
        return Schemas(self.log, self.end, changed, replaced)

    @property
    def shape(self) -> str:
        return INITIAL_ROWS if self.start is None else self.files.shape

    @cached_property
    def data_columns(self) -> tuple[tuple[str, str], ...]:
        """(name, SQL over the base columns) of what comes out."""
        return self.projection.over(self.schemas.columns)

    def check_tracking(self) -> None:
        """Row ids hold only where row tracking was on from one end to the other."""
        off = [c.version for c in self.commits if c.metadata and c.metadata["configuration"].get(TRACKING) != "true"]
        if self.log.properties.get(TRACKING) == "true" and not off:
            return
        when = f"was off at version {off[0]}" if off else "is off"
        raise BrokenSource(
            f"table {self.log.name}: row tracking ({TRACKING}) {when}, so rows cannot be told apart from there. "
            "Switch it on, and make the stream or the model that reads the table anew with --full-refresh. A stream "
            "with mode insert_only does without."
        )
