"""Plans what the models of one dbt invocation read: each stream from the model's own cursor to the pinned end.

Planning writes nothing: what is planned is committed by `commit.py`, or never, when a model is only compiled.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery, QueryInterval
from dbt.adapters.streamspark.changes.differentiate.keys import Column
from dbt.adapters.streamspark.changes.differentiate.local_rows import keep
from dbt.adapters.streamspark.changes.differentiate.snapshots import files_at
from dbt.adapters.streamspark.changes.file_changes import EMPTY
from dbt.adapters.streamspark.changes.frontier import Frontier, TableVersion
from dbt.adapters.streamspark.changes.log import TableLog
from dbt.adapters.streamspark.changes.projection import quoted
from dbt.adapters.streamspark.changes.state_ahead import StateAhead
from dbt.adapters.streamspark.changes.temp_view import temp_view
from dbt.adapters.streamspark.consume.consumption import Consumption, StreamRead
from dbt.adapters.streamspark.consume.costs import Begun
from dbt.adapters.streamspark.consume.cursor import Cursor, resolve_cursor
from dbt.adapters.streamspark.consume.key_range import key_range
from dbt.adapters.streamspark.consume.made import Made
from dbt.adapters.streamspark.consume.merge import Merge
from dbt.adapters.streamspark.consume.pins import Pins
from dbt.adapters.streamspark.consume.replacement import Replacement
from dbt.adapters.streamspark.consume.target import open_target
from dbt.adapters.streamspark.errors import ConsumptionRefused, Fenced, MissingSource, OffsetUnknown, StaleSource
from dbt.adapters.streamspark.literals import in_comment
from dbt.adapters.streamspark.steps import step
from dbt.adapters.streamspark.streams.config import FAIL, FULL_REFRESH
from dbt.adapters.streamspark.streams.definition import StreamDefinition
from dbt.adapters.streamspark.streams.freshness import readable_until
from dbt.adapters.streamspark.streams.interval_read import OpenStream, Reading
from dbt.adapters.streamspark.streams.opened import open_stream
from dbt.adapters.streamspark.streams.standing import standing
from dbt.adapters.streamspark.streams.stored_query import version_in

_ahead = StateAhead()


@dataclass(frozen=True)
class Stream:
    """A stream under the name that SQL reads it by. With `keys`, the columns by which a target's rows are matched,
    changes are computed when they are planned, and it is told where in the target their keys are. `rows`: what to read
    of an interval, if not its change rows; `led_over`: the same of the change rows that lead from another query's rows
    to those of this one. `query`: what it is on, where that is open already."""

    name: str
    definition: StreamDefinition
    keys: tuple[str, ...] | None = None
    rows: Callable[[QueryInterval], DataFrame] | None = None
    led_over: Callable[[DataFrame], DataFrame] | None = None
    query: ChangeQuery | None = None

    @property
    def start(self) -> Frontier | None:
        """Where a consumer that never read it begins; None: with the initial rows."""
        return None if self.definition.show_initial_rows else self.definition.start


@dataclass(frozen=True)
class Consumer:
    """Who consumes: `name` in the target's log, the `target` table, and the dbt `invocation`.

    `rebuild`: from the streams' own starts, whatever was consumed. `is_table`: the target is there and is a table.
    `merges`: what it reads is merged by its key (merge_by_position.py).
    """

    name: str
    target: str
    invocation: str
    rebuild: bool = False
    is_table: bool = True
    merges: bool = False


@dataclass
class Plan:
    """One consumer's plan in one invocation. `shapes` maps stream id to plan shape, `streams` to the stream.
    `started_over`: its stream was stale, and what on_stale then asks for, FULL_REFRESH or REBASE; `why` it was.
    `made`, `merge` and `replacement` as in Consumption. `log`: the target's, where there is one."""

    consumer: Consumer
    cursor: Cursor
    reads: dict[str, StreamRead] = field(default_factory=dict)
    streams: dict[str, Stream] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    reads_nothing: bool = False
    begun: Begun | None = None
    made: Made | None = None
    merge: Merge | None = None
    replacement: Replacement | None = None
    started_over: str = ""
    why: str = ""
    log: TableLog | None = None

    @property
    def consumption(self) -> Consumption:
        return Consumption(
            consumer=self.consumer.name,
            target=self.consumer.target,
            n=self.cursor.n + 1,
            invocation=self.consumer.invocation,
            reads=tuple(self.reads.values()),
            kept=self._kept(),
            kept_queries={key: query for key, query in self.cursor.queries.items() if key in self._kept()},
            rebuild=self._anew,
            seen=self.cursor.seen,
            begun=self.begun,
            made=self.cursor.made if self.reads_nothing else self.made,
            merge=self.merge and replace(self.merge, within=self.within, known=self._known),
            replacement=self.replacement,
        )

    @property
    def within(self) -> str:
        """Where in the target the rows are that change, as a predicate on `t`; empty where that is not known."""
        return " and ".join(read.within for read in self.reads.values() if read.within)

    @property
    def _known(self) -> Mapping[str, Column]:
        return {name: column for read in self.reads.values() for name, column in read.known.items()}

    @property
    def _anew(self) -> bool:
        return self.consumer.rebuild or self.started_over == FULL_REFRESH

    def _kept(self) -> Mapping[str, Frontier]:
        if self._anew:
            return {}
        return {key: reached for key, reached in self.cursor.frontiers.items() if key not in self.reads}


class Planner:
    """The plans of one dbt process, by consumer. A model is planned and committed on one thread."""

    def __init__(self) -> None:
        self._pins = Pins()
        self._plans: dict[tuple[str, str], Plan] = {}
        self._built: set[tuple[str, str]] = set()
        self._models: dict[tuple[str, str], str] = {}

    def read(self, spark: SparkSession, consumer: Consumer, stream: Stream) -> str:
        """The SQL that stands for the stream's interval in the model of `consumer`, a relation for FROM.

        Its rows are in a temporary view of `spark`'s session. Asked again, it is the same interval.
        Raises OffsetUnknown, StaleSource, BrokenSource and what the readers raise.
        """
        plan = self._plan(spark, consumer)
        if stream.definition.id not in plan.reads:
            _add_or_start_over(spark, plan, stream, self._pins)
        return plan.reads[stream.definition.id].sql

    def claimed(self, consumer: str, model: str, invocation: str) -> str:
        """The consumer's name. Raises ConsumptionRefused where another model consumes under it."""
        first = self._models.setdefault((invocation, consumer), model)
        if first != model:
            raise ConsumptionRefused(
                f"{model} and {first} would consume as one, {consumer}. The config `consumer` is the unique id that a "
                "model had before it was renamed: take it out of the model that never was called so."
            )
        return consumer

    def begin(self, consumer: str, invocation: str) -> None:
        """The model's SQL is known, and it is built: what its hooks still ask for is not consumed."""
        self._built.add((invocation, consumer))

    def is_hook(self, consumer: str, invocation: str, stream: Stream) -> bool:
        """Whether a hook asks, for a stream that the model itself does not read."""
        plan = self.plan(consumer, invocation)
        reads = plan is not None and stream.definition.id in plan.reads
        return (invocation, consumer) in self._built and not reads

    def read_nothing(self, spark: SparkSession, consumer: Consumer) -> None:
        """The model reads its streams as empty in this invocation; its offsets stay."""
        self._plan(spark, consumer).reads_nothing = True

    def no_rows(self, spark: SparkSession, stream: Stream) -> str:
        """The SQL of an interval in which nothing happened: the columns alone."""
        opened = open_stream(spark, stream.name, stream.definition)
        now = opened.frontier({log.path: log.version for log in opened.logs})
        return _relation(stream, now, now, opened.read(now, now)).sql

    def pinned(self, invocation: str, logs: Sequence[TableLog]) -> dict[str, int]:
        """The newest versions that this invocation reads, by the tables' paths."""
        return {log.path: self._pins.pin(invocation, log.path, log.version) for log in logs}

    def cursor(self, spark: SparkSession, consumer: Consumer) -> Cursor:
        """Where a consumer stands. Raises OffsetUnknown."""
        return self._plan(spark, consumer).cursor

    def target(self, spark: SparkSession, consumer: Consumer) -> TableLog | None:
        """The log of a consumer's target as it was when the cursor was read; None where there is none."""
        return self._plan(spark, consumer).log

    def peek(self, spark: SparkSession, stream: Stream) -> str:
        """The same SQL for somebody who consumes nothing: from the stream's start to now."""
        opened = open_stream(spark, stream.name, stream.definition)
        end = opened.frontier({log.path: log.version for log in opened.logs})
        return _relation(stream, stream.start, end, opened.read(stream.start, end)).sql

    def plan(self, consumer: str, invocation: str) -> Plan | None:
        """What was planned for a consumer, None when it reads no stream."""
        return self._plans.get((invocation, consumer))

    def plan_again(self, spark: SparkSession, old: Plan) -> Plan:
        """A new plan from the cursor as it is now, for the same streams and pinned ends. What it is to write is in the
        statements alone."""
        if old.started_over:
            raise Fenced(f"{old.consumer.target}: another run came first while it started over. Run the model again.")
        log = _target(spark, old.consumer)
        cursor = _cursor(log, old.consumer)
        plan = replace(old, cursor=cursor, reads={}, streams={}, shapes={}, log=log, replacement=None)
        for stream in old.streams.values():
            _add(spark, plan, stream, self._pins)
        self._plans[(plan.consumer.invocation, plan.consumer.name)] = plan
        return plan

    def _plan(self, spark: SparkSession, consumer: Consumer) -> Plan:
        key = (consumer.invocation, consumer.name)
        known = self._plans.get(key)
        if known is not None and known.consumer.rebuild == consumer.rebuild:
            return known
        log = known.log if known is not None else _target(spark, consumer) if consumer.is_table else None
        self._plans[key] = Plan(consumer, _cursor(log, consumer), log=log)
        return self._plans[key]


def _cursor(log: TableLog | None, consumer: Consumer) -> Cursor:
    """For a rebuild only the number matters, and a target that cannot tell more is no error."""
    try:
        return resolve_cursor(log, consumer.name)
    except OffsetUnknown:
        if not consumer.rebuild or log is None:
            raise
        return Cursor(log.transactions().get(consumer.name, 0), seen=log.version)


def _target(spark: SparkSession, consumer: Consumer) -> TableLog | None:
    try:
        return open_target(spark, consumer.target)
    except MissingSource:
        if consumer.rebuild:  # not a Delta table: the rebuild replaces it
            return None
        raise


def _add_or_start_over(spark: SparkSession, plan: Plan, stream: Stream, pins: Pins) -> None:
    """A stream that is stale is read as its on_stale says."""
    if plan.started_over:
        raise StaleSource(f"{plan.why} {_alone(plan)}")
    definition, start = stream.definition, _start(plan, stream)
    try:
        if definition.on_stale != FAIL and start is not None:
            readable_until(spark, stream.name, start, definition.mode)
        _add(spark, plan, stream, pins)
    except StaleSource as error:
        if definition.on_stale == FAIL:
            raise
        if plan.reads:
            raise StaleSource(f"{error} {_alone(plan)}") from error
        plan.why = str(error)
        _start_over(spark, plan, stream, pins)


def _alone(plan: Plan) -> str:
    return f"on_stale helps models that read one stream alone; run {plan.consumer.target} with --full-refresh."


def _start_over(spark: SparkSession, plan: Plan, stream: Stream, pins: Pins) -> None:
    """All rows that the stream's query has now, as inserts."""
    definition = standing(spark, stream.name, stream.definition)
    opened = open_stream(spark, stream.name, definition, definition.start)
    end = _end(opened, plan.consumer.invocation, definition.start, pins)
    reading, key = opened.read(None, end), definition.id
    sql = _relation(stream, None, end, reading).sql
    plan.started_over = FULL_REFRESH if plan.consumer.rebuild else definition.on_stale
    plan.shapes[key], plan.streams[key] = reading.shape, stream
    plan.reads[key] = StreamRead(stream.name, key, None, end, sql, False, reading.query)


def _add(spark: SparkSession, plan: Plan, stream: Stream, pins: Pins) -> None:
    """Plan one more stream's interval."""
    key = stream.definition.id
    start = _start(plan, stream)
    opened = open_stream(spark, stream.name, stream.definition, start, stream.query)
    end = _end(opened, plan.consumer.invocation, start or stream.definition.start, pins)
    reading = opened.read(start, end, _last_query(plan, key))
    if plan.log is not None and reading.shape != EMPTY:
        _ahead.read(plan.log, always=plan.consumer.rebuild or not plan.consumer.merges)
    made = _relation(stream, start, end, reading, plan.log)
    plan.shapes[key], plan.streams[key] = reading.shape, stream
    plan.reads[key] = StreamRead(
        stream.name,
        key,
        start,
        end,
        made.sql,
        is_empty=reading.shape == EMPTY,
        query=reading.query,
        within=made.within,
        count=made.count,
        many=reading.many,
        known=made.known,
    )
    step("plan")


def _start(plan: Plan, stream: Stream) -> Frontier | None:
    if plan.consumer.rebuild:
        return stream.start
    return plan.cursor.frontiers.get(stream.definition.id, stream.start)


def _last_query(plan: Plan, key: str) -> str | None:
    return None if plan.consumer.rebuild else plan.cursor.queries.get(key)


def _end(opened: OpenStream, invocation: str, begin: Frontier, pins: Pins) -> Frontier:
    """The pinned versions, or those of the start where they are later already (another run went on, a newer
    stream)."""
    pinned = {log.path: pins.pin(invocation, log.path, log.version) for log in opened.logs}
    return opened.frontier({log.path: max(pinned[log.path], version_in(log, begin) or 0) for log in opened.logs})


@dataclass(frozen=True)
class _Relation:
    """`sql` reads the rows of an interval; `within`, `count` and `known` as in StreamRead."""

    sql: str
    within: str = ""
    count: int | None = None
    known: Mapping[str, Column] = field(default_factory=dict)


def _relation(
    stream: Stream, start: Frontier | None, end: Frontier, reading: Reading, target: TableLog | None = None
) -> _Relation:
    """A temporary view of the interval's rows, and the SQL that reads it: it says what it is."""
    name = view_name(stream, start, end) + _before(reading, start)
    note = f"stream {stream.name}: {interval_text(start, end)} of {end.timestamp:%Y-%m-%d %H:%M:%S} UTC"
    note = in_comment(note)
    rows, sql = _rows(stream, reading), f"(select * from {quoted(name)} /* {note} */)"
    if stream.keys is not None and start is not None:
        kept = keep(rows, reading.many)
        files = (target and files_at(target, target.version)) or ()
        temp_view(kept.frame, name)
        where = key_range(kept, stream.keys, files)
        return _Relation(sql, f"({where.test} /* keys of {note} */)", kept.count, where.known)
    temp_view(rows, name)
    return _Relation(sql)


def _rows(stream: Stream, reading: Reading) -> DataFrame:
    if stream.rows is None:
        return reading.rows()
    if reading.interval is not None:
        return stream.rows(reading.interval)
    if stream.led_over is None:
        raise Fenced(f"another run of {stream.name} came first, with another query. Run the model again.")
    return stream.led_over(reading.rows())


def _before(reading: Reading, start: Frontier | None) -> str:
    """Where another query was read before, a part of the name that tells which, and up to where."""
    if not reading.before or start is None:
        return ""
    return f"__{hashlib.sha256((reading.before + start.to_json()).encode()).hexdigest()[:6]}"


def interval_text(start: Frontier | None, end: Frontier) -> str:
    """Each table with its versions.

    >>> a, b = (Frontier.of(TableVersion("id", "db.t", version)) for version in (3, 5))
    >>> interval_text(a, b), interval_text(None, b)
    ('db.t versions (3, 5]', 'db.t initial rows at version 5')
    """
    return ", ".join(f"{table.name} {_versions(start, table)}" for table in end.tables) or "no table"


def _versions(start: Frontier | None, end: TableVersion) -> str:
    if start is None:
        return f"initial rows at version {end.version}"
    since = version_before(start, end)
    return f"versions ({'-' if since is None else since}, {end.version}]"


def version_before(start: Frontier, end: TableVersion) -> int | None:
    """The version of a table at the start, None where it was not read up to there."""
    entry = start.entry(end.table_id, end.name)
    return None if entry is None else entry.version


def view_name(stream: Stream, start: Frontier | None, end: Frontier) -> str:
    """The stream's name, a part of its id, and both bounds.

    >>> from types import SimpleNamespace
    >>> a, b = (Frontier.of(TableVersion("1", "t", v), TableVersion("2", "u", v + 1)) for v in (12, 15))
    >>> view_name(SimpleNamespace(name="db.s", definition=SimpleNamespace(id="1234567890")), a, b)
    'streamspark__s__123456__12x13_15x16'
    """
    plain = re.sub(r"\W", "_", stream.name.split(".")[-1])
    since = "initial" if start is None else "x".join(str(version_before(start, table)) for table in end.tables)
    until = "x".join(str(table.version) for table in end.tables)
    return f"streamspark__{plain}__{stream.definition.id[:6]}__{since}_{until}"
