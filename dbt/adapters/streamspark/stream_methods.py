"""What the macros of streams and their consumers ask the adapter: each question handed on to `streams` or `consume`.

`model` is always dbt's dictionary of the node that is being compiled or built.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import get_ident
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.base.meta import AdapterMeta
from dbt_common.invocation import get_invocation_id
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes.change_query import ChangeQuery
from dbt.adapters.streamspark.changes.frontier import Frontier
from dbt.adapters.streamspark.changes.interval import TRACKING
from dbt.adapters.streamspark.changes.temp_view import drop_temp_view
from dbt.adapters.streamspark.connections import StreamsparkResponse, say
from dbt.adapters.streamspark.consume.begins_on_rows import check_begins, skipped
from dbt.adapters.streamspark.consume.by_path import by_path
from dbt.adapters.streamspark.consume.changes_applied import Applied, changes_applied
from dbt.adapters.streamspark.consume.changes_model import ChangesConfig, ChangesModel, ChangesPlan
from dbt.adapters.streamspark.consume.columns import Column, columns_of
from dbt.adapters.streamspark.consume.commit import commit
from dbt.adapters.streamspark.consume.consumption import Consumption
from dbt.adapters.streamspark.consume.differential import DifferentialConfig, DifferentialModel, DifferentialPlan
from dbt.adapters.streamspark.consume.empty_texts import without_empty_texts
from dbt.adapters.streamspark.consume.keep_alive import keep_alive
from dbt.adapters.streamspark.consume.planner import Consumer, Plan, Planner, Stream
from dbt.adapters.streamspark.consume.predicate import predicate
from dbt.adapters.streamspark.consume.replace_rows import RULES
from dbt.adapters.streamspark.consume.scd_config import ScdConfig
from dbt.adapters.streamspark.consume.starts_over import check_starts_over
from dbt.adapters.streamspark.errors import ConsumptionRefused
from dbt.adapters.streamspark.graph import in_catalog
from dbt.adapters.streamspark.literals import literal
from dbt.adapters.streamspark.report import committed, explained, left_out, nothing_new
from dbt.adapters.streamspark.spark_errors import as_sql_error
from dbt.adapters.streamspark.streams.catalog import find_other, find_stream, properties
from dbt.adapters.streamspark.streams.changes_clause import ChangesClause, check_allowed
from dbt.adapters.streamspark.streams.config import (
    StreamConfig,
    parse_changes_config,
    parse_config,
    parse_differential_config,
)
from dbt.adapters.streamspark.streams.consumers import check_differential, consumer_name, consumes
from dbt.adapters.streamspark.streams.definition import from_properties
from dbt.adapters.streamspark.streams.lifecycle import StreamModel
from dbt.adapters.streamspark.streams.retention import BEFORE, FILE_RETENTION, LOG_RETENTION
from dbt.adapters.streamspark.streams.scd_config import PREDICATES, parse_scd_config
from dbt.adapters.streamspark.streams.stream_change import StreamChange

# what --empty and --sample make of a ref: a stream reads nothing when it is made, so it is made as always
_MOMENT = r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00:00'"
NARROWED = re.compile(
    rf"\(select \* from (\S+) where (?:false limit 0|\S+ >= {_MOMENT} and \S+ < {_MOMENT})\)"
    r"(?: _dbt_(?:limit|et_filter)_subq_\S+)?"
)
KEPT_PROPERTIES = (TRACKING, FILE_RETENTION, LOG_RETENTION, BEFORE)
STARTS = ("at", "before")
NOTHING = "(select * from {} where false limit 0)"
MERGED = ("apply_changes", "differential")  # strategies whose rows are merged by position, where they are merged


class StreamMethods(metaclass=AdapterMeta):
    """Mixed into the adapter, which gives `connections` and `config`."""

    connections: Any
    config: Any

    def spark(self) -> SparkSession:
        raise NotImplementedError

    @property
    def planner(self) -> Planner:
        """Plans live as long as the adapter, which is one dbt invocation."""
        found: Planner = self.__dict__.setdefault("_planner", Planner())
        return found

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        """Our errors, and those of Spark, as dbt's."""
        with self.connections.exception_handler(doing):
            try:
                yield
            except (PySparkException, Py4JError) as error:
                raise explained(as_sql_error(error)) from error

    # streams

    @available.parse_none
    def stream_change(
        self,
        model: Mapping[str, Any],
        relation: Any,
        sql: str,
        full_refresh: bool,
        narrowed: bool,
        graph: Mapping[str, Any],
    ) -> StreamChange:
        """What a run of the stream's model is to do (lifecycle.py); `narrowed`: with --empty or --sample. `graph` is
        dbt's."""
        name = relation.render()
        with self._errors(f"stream {name}"):
            sql = _whole(sql, narrowed)
            starts = {key: in_catalog(model["config"].get(key), graph) for key in STARTS}
            config = parse_config({**model["config"], **starts}, name)
            existing = from_properties(properties(self.spark(), name) or {}, name)
            return StreamModel(self.spark(), name, sql, config, narrowed).decide(existing, full_refresh)

    @available.parse_none
    def stream_clone(self, source: Any, relation: Any) -> StreamChange:
        """What makes `relation` a stream with the definition of the one at `source`."""
        with self._errors(f"clone of stream {source.render()}"):
            return StreamModel(self.spark(), relation.render(), source.render(), StreamConfig()).clone()

    @available.parse_none
    def stream_statement(self, relation: Any) -> str | None:
        """The fingerprint of the statement that made the stream's view."""
        with self._errors(f"stream {relation.render()}"):
            return (properties(self.spark(), relation.render()) or {}).get("streamspark.statement")

    @available
    def fingerprint(self, text: str) -> str:
        """A short name of a text."""
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @available
    def literal(self, value: Any) -> str:
        """A value as a Spark SQL literal."""
        return literal(value)

    @available.parse(lambda *args, **kwargs: {})
    def kept_properties(self, name: str) -> dict[str, str]:
        """The properties of a table that have to outlive its being made again, {} when there is no such table."""
        with self._errors(f"properties of {name}"):
            found = properties(self.spark(), name) or {}
            return {key: found[key] for key in KEPT_PROPERTIES if key in found}

    @available.parse_list
    def constraints_of(self, name: str) -> list[str]:
        """The names, in lower case, of the CHECK constraints of a Delta table."""
        with self._errors(f"properties of {name}"):
            found = properties(self.spark(), name) or {}
            return [key.removeprefix(RULES).lower() for key in found if key.startswith(RULES)]

    @available.parse(lambda point, graph: point)
    def in_catalog(self, point: Any, graph: Mapping[str, Any]) -> Any:
        """The start or end of changes(), with the catalog's name for that of a stream's model; `graph` is dbt's."""
        with self._errors(f"changes from or to {point}"):
            return in_catalog(point, graph)

    # consumers

    @available.parse(lambda *args, **kwargs: "")
    def read_stream(
        self,
        model: Mapping[str, Any],
        relation: Any,
        target: Any = None,
        target_is_table: bool = False,
        rebuild: bool = False,
        nothing: bool = False,
    ) -> str:
        """The SQL that stands for stream `relation` in `model`, whose own table is `target`.

        `rebuild`: the model is built from the streams' starts. `nothing`: the model is to read no rows and to keep
        its offsets (--empty, --sample).
        """
        with self._errors(f"{model['unique_id']}: stream {relation.render()}"):
            spark, name = self.spark(), relation.render()
            stream = Stream(name, find_stream(spark, name))
            hook = self.planner.is_hook(self._name(model), get_invocation_id(), stream)
            if hook or not self._consumes(model):
                return NOTHING.format(name) if nothing else self.planner.peek(spark, stream)
            consumer = self._consumer(model, target.render(), rebuild, target_is_table)
            if nothing:
                self.planner.read_nothing(spark, consumer)
                return NOTHING.format(name)
            sql = self.planner.read(spark, consumer, stream)
            self._check_starts_over(model)
            return sql

    @available.parse(lambda *args, **kwargs: "")
    def peek_stream(self, relation: Any) -> str:
        """The SQL of a stream's changes since its start, for whoever consumes nothing."""
        name = relation.render()
        with self._errors(f"stream {name}"):
            return self.planner.peek(self.spark(), Stream(name, find_stream(self.spark(), name)))

    @available.parse_none
    def begin_build(self, model: Mapping[str, Any]) -> None:
        """What stream() is asked from here on is for the model's hooks, which only look."""
        self.planner.begin(self._name(model), get_invocation_id())

    @available.parse(lambda *args, **kwargs: "")
    def started_over(self, model: Mapping[str, Any]) -> str:
        """What the model does since its stream is stale: "full_refresh", "rebase", or "" when it is not."""
        plan = self._plan(model)
        return "" if plan is None else plan.started_over

    def _check_starts_over(self, model: Mapping[str, Any]) -> None:
        plan = self._plan(model)
        if plan is None or not plan.started_over:
            return
        check_starts_over(plan, str(model.get("raw_code")), self._is_copy(model))
        say(f"{plan.consumer.target}: on_stale: {plan.started_over}, since {plan.why}")

    def _is_copy(self, model: Mapping[str, Any]) -> bool:
        config = model["config"]
        return config.get("incremental_strategy") == "apply_changes" and (
            ScdConfig(**parse_scd_config(config, model["unique_id"])).is_plain
        )

    @available.parse_none
    def plan_changes(
        self, model: Mapping[str, Any], target: Any, sql: str, is_table: bool, full_refresh: bool, nothing: bool
    ) -> ChangesPlan:
        """What a changes model, whose query is `sql`, writes in this run."""
        name = target.render()
        with self._errors(f"{model['unique_id']}: changes of its query"):
            config = ChangesConfig(**parse_changes_config(model["config"], name))
            consumer = self._consumer(model, name, full_refresh or not is_table, is_table)
            query = _whole(sql, nothing)
            return ChangesModel(self.spark(), self.planner, consumer, query, config).plan(nothing)

    @available.parse_none
    def plan_differential(
        self, model: Mapping[str, Any], target: Any, sql: str, is_table: bool, full_refresh: bool, nothing: bool
    ) -> DifferentialPlan:
        """What a model that is kept equal to its query `sql` writes in this run."""
        name = target.render()
        with self._errors(f"{model['unique_id']}: changes of its query"):
            check_differential(model)
            given = parse_differential_config(model["config"], name)
            config = DifferentialConfig(**given, partition_by=_partition_by(model))
            consumer = self._consumer(model, name, full_refresh or not is_table, is_table)
            query = _whole(sql, nothing)
            plan = DifferentialModel(self.spark(), self.planner, consumer, query, config).plan(nothing)
            say(f"{name}: {'made anew' if plan.anew else 'by changes'}, {plan.reason}")
            return plan

    @available.parse(lambda *args, **kwargs: "")
    def merge_differential(self, model: Mapping[str, Any], plan: DifferentialPlan, rows: str, target: str) -> str:
        """The MERGE of the rows planned, which the relation `rows` is going to have, into the target."""
        planned = self._plan(model)
        assert planned is not None
        with self._errors(model["unique_id"]):
            return plan.write(planned, rows, self.columns_of_query(plan.sql), target, self.columns_of(target))

    @available.parse(lambda *args, **kwargs: "(select 1)")
    def changes_between(
        self,
        model: Mapping[str, Any],
        query: str,
        start: Any,
        end: Any,
        options: Mapping[str, str],
        analysed: bool,
        narrowed: bool = False,
    ) -> str:
        """The SQL that stands for the changes of a query; without `analysed` nobody is going to run it."""
        clause = ChangesClause(_whole(query, narrowed), start, end, options)
        with self._errors(f"{model['unique_id']}: {clause.note}"):
            check_allowed(model)
            spark, own = self.spark(), f"{model['schema']}.{model['name']}"
            if analysed:
                clause.register(spark, self._now, lambda other: find_other(spark, own, other))
            return clause.relation

    def _now(self, query: ChangeQuery) -> Frontier:
        return query.at(self.planner.pinned(get_invocation_id(), query.logs))

    def _consumes(self, model: Mapping[str, Any]) -> bool:
        try:
            return consumes(model)
        except ConsumptionRefused as error:
            if model["config"].get("incremental_strategy") == "microbatch":
                say(str(error))  # dbt keeps the error of a batch to itself
            raise

    def _plan(self, model: Mapping[str, Any]) -> Plan | None:
        return self.planner.plan(self._name(model), get_invocation_id())

    def _name(self, model: Mapping[str, Any]) -> str:
        """The consumer's, which is one model's alone."""
        name = consumer_name(model["unique_id"], model["config"] if model["resource_type"] == "model" else {})
        return self.planner.claimed(name, model["unique_id"], get_invocation_id())

    def _consumer(self, model: Mapping[str, Any], target: str, rebuild: bool, is_table: bool) -> Consumer:
        merges = model["config"].get("incremental_strategy") in MERGED
        return Consumer(self._name(model), target, get_invocation_id(), rebuild, is_table, merges)

    @available.parse_none
    def consumption_of(self, model: Mapping[str, Any]) -> Consumption | None:
        """What the model was planned to consume when it was compiled, None for a model that reads no stream.

        A model that reads nothing in this run, but may have consumed before, has a consumption without reads: its
        offsets have to be in what it writes.
        """
        plan = self._plan(model)
        if plan is None or (not plan.reads and plan.cursor.n == 0):
            return None
        return plan.consumption

    @available.parse_none
    def commit_consumption(self, model: Mapping[str, Any], statements: Sequence[str]) -> StreamsparkResponse:
        """Run the statements, the last of which writes the target, as the commit of the model's consumption."""
        plan = self._plan(model)
        assert plan is not None
        spark = self.spark()

        def plan_again() -> Consumption:
            nonlocal plan
            assert plan is not None
            plan = self.planner.plan_again(spark, plan)
            return plan.consumption

        with self._errors(statements[-1]):
            outcome = commit(spark, plan.consumption, statements, plan_again)
            line, response = committed(plan, outcome)
        if plan.reads:
            say(line)
        return response

    @available.parse_none
    def skip_consumption(self, model: Mapping[str, Any]) -> StreamsparkResponse:
        """Nothing to read: write nothing, unless the offset would get too old without a commit."""
        plan = self._plan(model)
        assert plan is not None
        with self._errors(f"{model['unique_id']}: keep the offset"):
            if plan.reads:
                keep_alive(self.spark(), plan.consumption)
            line, response = nothing_new(plan)
        if plan.reads:
            say(line)
        return response

    @available.parse_list
    def check_begins(self, model: Mapping[str, Any], strategy: str) -> list[str]:
        """What to warn of when a model begins to read another stream: changes that it never gets. Raises
        ConsumptionRefused where the table of a model that begins to read has rows of others."""
        plan = self._plan(model)
        if plan is None:
            return []
        with self._errors(f"{model['unique_id']}: begin to read"):
            check_begins(plan, strategy)
            return skipped(plan)

    @available.parse_list
    def left_out(self, model: Mapping[str, Any]) -> list[str]:
        """What to warn of when a model begins: rows that it never gets, since they are older than its streams."""
        plan = self._plan(model)
        with self._errors(f"{model['unique_id']}: count older rows"):
            return left_out(self.spark(), plan) if plan is not None else []

    # SQL

    @available.parse_list
    def columns_of(self, name: str) -> list[Column]:
        """Name and type of each column of a table or view, in order, whatever characters the names hold."""
        with self._errors(f"describe {name}"):
            return list(columns_of(self.spark().table(name).schema))

    @available.parse(lambda *args, **kwargs: "")
    def by_path(self, name: str) -> str:
        """A Delta table under a name that no query calls it by."""
        with self._errors(f"describe {name}"):
            return by_path(self.spark(), name)

    @available
    def drop_temp_view(self, name: str) -> None:
        """A temporary view of this thread's session; nothing where there is none."""
        drop_temp_view(self.spark(), name)

    @available.parse_list
    def columns_of_query(self, sql: str) -> list[Column]:
        """The same of a query, which is not run."""
        with self._errors(sql):
            return list(columns_of(self.spark().sql(sql).schema))

    @available.parse(lambda *args, **kwargs: {"table": None, "columns": {}})
    def comments_of(self, name: str) -> dict[str, Any]:
        """The comment of a `table`, and by name those of its `columns`; None where there is none."""
        with self._errors(f"describe {name}"):
            described = self.spark().sql(f"describe extended {name}").collect()  # a filter would cost a Spark job
            rows = [row for row in described if row["col_name"] == "Comment"]
            fields = self.spark().table(name).schema.fields
            columns = {field.name: (field.metadata or {}).get("comment") for field in fields}
            return {"table": rows[-1]["data_type"] if rows else None, "columns": columns}

    @available.parse_none
    def set_conf(self, key: str, value: str) -> None:
        """Set a Spark conf until `restore_confs`, which comes at the latest when the model is done."""
        conf = self.spark().conf
        self._confs().setdefault(key, conf.get(key, None))
        conf.set(key, value)

    @available.parse_none
    def restore_confs(self) -> None:
        """Put the confs back that this thread's model set."""
        conf, confs = self.spark().conf, self._confs()
        for key in list(confs):
            before = confs.pop(key)
            if before is None:
                conf.unset(key)
            else:
                conf.set(key, before)

    def _confs(self) -> dict[str, str | None]:
        """What the confs were before this thread's model set them."""
        threads = self.__dict__.setdefault("_thread_confs", {})
        confs: dict[str, str | None] = threads.setdefault(get_ident(), {})
        return confs

    def post_model_hook(self, config: Any, context: Any) -> None:
        """dbt calls it when a model is done, also when it failed."""
        self.restore_confs()

    @available.parse_none
    def check_apply_changes(self, model: Mapping[str, Any]) -> None:
        """Raises what is wrong with the configuration of a model of apply_changes."""
        with self._errors(model["unique_id"]):
            parse_scd_config(model["config"], model["unique_id"])

    @available.parse_none
    def apply_changes(self, model: Mapping[str, Any], source: str) -> Applied:
        """The SQL of apply_changes over the model's rows in the relation `source`."""
        with self._errors(model["unique_id"]):
            given = parse_scd_config(model["config"], model["unique_id"])
            predicates = {key: self.predicate(given[key], key) for key in PREDICATES if key in given}
            config, columns, planned = ScdConfig(**{**given, **predicates}), self.columns_of(source), self._plan(model)
            rows = without_empty_texts(model["unique_id"], source, columns, _partition_by(model), config.unique_key)
            one_stream = planned is None or len(planned.reads) < 2
            return changes_applied(model["unique_id"], rows, tuple(columns), config, one_stream)

    @available.parse(lambda *args, **kwargs: "")
    def merge_changes(self, model: Mapping[str, Any], changes: Applied, rows: str, target: str) -> str:
        """The MERGE into the target of what the changes, which are in the temporary view `rows`, amount to."""
        with self._errors(model["unique_id"]):
            merge = changes.merge(target, self.columns_of(target))
            planned = self._plan(model)
            if planned is not None:
                planned.merge = replace(merge, staged=rows)
            return merge.sql()

    @available.parse(lambda *args, **kwargs: "")
    def predicate(self, text: Any, key: str) -> str:
        """A predicate of the config `key` as SQL that stays one wherever it is put."""
        with self._errors(f"{key} = {text!r}"):
            return predicate(self.spark(), str(text), key)

    def valid_incremental_strategies(self) -> list[str]:
        """dbt appends to the list that it gets."""
        return ["append", "merge", "insert_overwrite", "microbatch"]


def _partition_by(model: Mapping[str, Any]) -> tuple[str, ...]:
    given = model["config"].get("partition_by") or ()
    return (given,) if isinstance(given, str) else tuple(given)


def _whole(sql: str, narrowed: bool) -> str:
    """A compiled query as it is without --empty and --sample, where the run has one of them (`narrowed`).

    >>> _whole("select id from (select * from a.b where false limit 0) x", True)
    'select id from a.b x'
    >>> own = "select id from (select * from a.b where day >= '2026-01-01' and day < '2026-02-01') x"
    >>> own == _whole(own, True), _whole("(select * from a.b where false limit 0)", False)
    (True, '(select * from a.b where false limit 0)')
    """
    return NARROWED.sub(r"\1", sql) if narrowed else sql
