"""A MERGE whose source is computed first, done with one look at the target instead of three (docs/decisions/0031).

The rows that match are found with their places in the target's files. What becomes of them is known then: their places
are hidden by deletion vectors, and their new versions written with the rows that are new, in one commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.differentiate.local_rows import keep, too_many
from dbt.adapters.streamspark.changes.differentiate.snapshots import files_at
from dbt.adapters.streamspark.changes.differentiate.views import Views
from dbt.adapters.streamspark.changes.file_frame import file_frame
from dbt.adapters.streamspark.changes.log import Action, TableLog
from dbt.adapters.streamspark.changes.marked_rows import physical_rows
from dbt.adapters.streamspark.changes.plain_path import plain_path
from dbt.adapters.streamspark.changes.projection import type_sql
from dbt.adapters.streamspark.changes.readers.cdf import FEED
from dbt.adapters.streamspark.changes.removed_rows import remember
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.held_source import HeldSource, held_source, stage, too_large
from dbt.adapters.streamspark.consume.hidden_rows import hidden_rows
from dbt.adapters.streamspark.consume.members import members
from dbt.adapters.streamspark.consume.merge import NOT_SO_SIMPLE, Merge
from dbt.adapters.streamspark.consume.merge_commit import Hidden, MergeCommit, Written, row_ids
from dbt.adapters.streamspark.consume.merge_queries import PATH, PLACE, ROW_ID, VERSION, MergeQueries
from dbt.adapters.streamspark.consume.plain_columns import is_on, plain_columns
from dbt.adapters.streamspark.steps import step

VECTORS = "delta.enableDeletionVectors"
MERGE_VECTORS = "spark.databricks.delta.merge.deletionVectors.persistent"


def merge_by_position(spark: SparkSession, consumption: Consumption) -> dict[str, int] | None:
    """Commits `consumption.merge` as MERGE would, and gives what MERGE answers: num_affected_rows, num_updated_rows,
    num_deleted_rows and num_inserted_rows. The session has the consumption's confs.

    None, with nothing committed, where Delta's own MERGE has to do it: a source that is too large, tables with columns
    that are computed, of other types than the source's, without deletion vectors or statistics, or with a change data
    feed; or where two rows of the source match one of the target, for which MERGE knows the error, or the consumption's
    number is taken, which makes MERGE do nothing.
    """
    if consumption.merge is None:
        return None
    log = TableLog(spark, consumption.target)
    if not _is_plain(spark, log):
        return None
    commit = MergeCommit(log, consumption)
    if commit.is_taken():  # before anything is asked of rows that have consumed this already; Delta skips the statement
        return None
    with Views(spark) as views:
        return _merged(commit, consumption, views)


def _is_plain(spark: SparkSession, log: TableLog) -> bool:
    """Whether Delta's MERGE would hide rows as this does, and write nothing else: it writes change files for a feed."""
    hides = is_on(log, VECTORS) and spark.conf.get(MERGE_VECTORS, "true") == "true"
    return hides and not is_on(log, FEED) and plain_columns(log)


def _merged(commit: MergeCommit, consumption: Consumption, views: Views) -> dict[str, int] | None:
    """What was computed when it was planned is not computed again."""
    merge, count = consumption.merge, consumption.count
    assert merge is not None
    if count is not None:
        return None if too_large(count) else _Merging(commit, HeldSource(merge, count), views).merged()
    with _unless_not_so_simple():
        if merge.simpler is not None:
            return _held(commit, merge.simpler, consumption.many, views, usual=True)
    staged = stage(views.spark, merge.staged, consumption.many) if merge.staged else 0
    return None if too_large(staged) else _held(commit, merge, too_many(staged), views)


def _held(commit: MergeCommit, merge: Merge, many: bool, views: Views, usual: bool = False) -> dict[str, int] | None:
    log = commit.log
    source = held_source(views.spark, merge, many, views, files_at(log, log.version) or ())
    return None if source is None else _Merging(commit, source, views, usual).merged()


@contextmanager
def _unless_not_so_simple() -> Iterator[None]:
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        if NOT_SO_SIMPLE not in str(error):
            raise


def _target(log: TableLog, files: Sequence[Action] | None) -> DataFrame:
    """The rows of the snapshot that `log` holds, and their places. Not by the table's name: whatever the session has
    cached under it is left alone. `files` are all of its files; where they are too many, Delta looks for the right
    ones."""
    frame = _scan(log) if files is None else file_frame(log, log.snapshot(), files)
    tracked = ("_metadata.row_id", "_metadata.row_commit_version")
    row_id, version = tracked if row_ids(log) else ("cast(null as bigint)",) * 2
    places = [f"_metadata.file_path as {PATH}", f"_metadata.row_index as {PLACE}"]
    return frame.selectExpr("*", *places, f"{row_id} as {ROW_ID}", f"{version} as {VERSION}")


def _scan(log: TableLog) -> DataFrame:
    nil, snapshot = getattr(log._jvm.scala.collection.immutable, "Nil$"), log._jvm.scala.Option.apply(log.snapshot())
    relation = log.java.createRelation(nil, snapshot, log._none, True)
    return DataFrame(log._jspark.baseRelationToDataFrame(relation), log.spark)


class _Merging:
    """One merge on the snapshot that `commit` is based on. `usual`: it is a simpler one, in place of that which holds
    in any case."""

    def __init__(self, commit: MergeCommit, source: HeldSource, views: Views, usual: bool = False):
        self._commit, self._source, self._views, self._usual = commit, source, views, usual
        self._spark, self._log = views.spark, commit.log
        self._listed = files_at(self._log, self._log.version)
        target = members(_target(self._log, self._listed), source.merge.known)
        self._fields = [field for field in target.schema.fields if field.name not in (PATH, PLACE, ROW_ID, VERSION)]
        columns = [field.name for field in self._fields]
        self._queries = MergeQueries(source.merge, columns, views.add(target, what="target"))

    def merged(self) -> dict[str, int] | None:
        matches = keep(self._spark.sql(self._queries.matches()), self._source.many)
        found = self._views.add(matches.frame, what="matches")
        written = self._spark.sql(self._queries.written(found))
        if not self._has_its_types(written):
            return None
        step("merge_found")
        in_one_task = self._views.add(matches.frame.coalesce(1), what="matches")
        with ThreadPoolExecutor(1, "hidden rows") as pool:  # the rows are written by one task and there are more cores
            hiding = pool.submit(self._hide, found, in_one_task)
            files = self._commit.write(written.coalesce(self._source.files))
        hidden = hiding.result()
        return None if hidden is None else self._committed(found, hidden, files)

    def _has_its_types(self, written: DataFrame) -> bool:
        """Whether what is written needs no cast, of which MERGE has rules of its own."""
        pairs = zip(written.schema.fields, self._fields, strict=False)
        return all(type_sql(new.dataType) == type_sql(old.dataType) for new, old in pairs)

    def _hide(self, found: str, matches: str) -> Hidden | None:
        """`found` is a relation of the matches, `matches` another in one task."""
        self._log.activate_session()
        if self._usual:
            self._spark.sql(self._queries.single(found)).collect()
        hidden = self._spark.sql(self._queries.hidden(matches)).collect()
        places = {plain_path(unquote(row[PATH])): row["places"] for row in hidden}
        if any(len(set(those)) < len(those) for those in places.values()):
            return None
        files = self._files(places)
        if files is None:
            return None
        by_path = {file["path"]: places[self._path(file)] for file in files}
        updated, gone = sum(row["updated"] for row in hidden), sum(map(len, places.values()))
        return Hidden(hidden_rows(self._log, files, by_path), updated, gone - updated)

    def _committed(self, found: str, hidden: Hidden, files: Written) -> dict[str, int]:
        merged = self._commit.run(hidden, files)
        if row_ids(self._log):
            remember(self._commit.id, self._spark.sql(self._queries.removed(found)), merged.updated + merged.deleted)
        return merged.answer()

    def _files(self, places: dict[str, Any]) -> list[Action] | None:
        """The adds of the files; None where one is not found, or has no statistics."""
        names = [path.rpartition("/")[2] for path in places]
        files = self._listed or (self._log.all_files(self._log.version, names) if places else [])
        found = [file for file in files if self._path(file) in places]
        known = all(physical_rows(file) is not None for file in found)
        return found if known and len(found) == len(places) else None

    def _path(self, file: Action) -> str:
        return f"{plain_path(self._log.path)}/{unquote(file['path'])}"
