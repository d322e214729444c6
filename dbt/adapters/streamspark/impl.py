"""The adapter: dbt's questions, each handed to the module that answers it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dbt.adapters.base import BaseRelation
from dbt.adapters.contracts.relation import RelationConfig
from dbt.adapters.spark.impl import GET_COLUMNS_IN_RELATION_RAW_MACRO_NAME, SparkAdapter, SparkConfig
from dbt_common.clients.agate_helper import merge_tables
from dbt_common.contracts.metadata import CatalogTable

from dbt.adapters.streamspark.catalog import Description, catalog_rows, catalog_table, describe
from dbt.adapters.streamspark.channel_methods import ChannelMethods
from dbt.adapters.streamspark.check_methods import CheckMethods
from dbt.adapters.streamspark.connections import StreamsparkConnectionManager, say
from dbt.adapters.streamspark.diagnosis import facts
from dbt.adapters.streamspark.grants import check_grants
from dbt.adapters.streamspark.operation_methods import OperationMethods
from dbt.adapters.streamspark.relation import StreamsparkRelation, relation_type
from dbt.adapters.streamspark.stream_methods import StreamMethods

if TYPE_CHECKING:
    import agate
    from pyspark.sql import SparkSession

DEFAULT_FILE_FORMAT = "delta"


@dataclass
class StreamsparkConfig(SparkConfig):
    file_format: str = DEFAULT_FILE_FORMAT


class StreamsparkAdapter(StreamMethods, CheckMethods, OperationMethods, ChannelMethods, SparkAdapter):
    """dbt-spark's adapter on our own sessions, with streams as relations and Delta as the default format."""

    Relation: TypeAlias = StreamsparkRelation
    ConnectionManager = StreamsparkConnectionManager
    AdapterSpecificConfigs = StreamsparkConfig

    def spark(self) -> SparkSession:
        """The Spark session of the current thread's connection, opened if need be."""
        session: SparkSession = self.connections.get_thread_connection().handle.session.spark
        return session

    def get_relation(self, database: Any, schema: str, identifier: str) -> BaseRelation | None:
        """dbt-spark's macros leave the database out, or undefined: it is then the profile's catalog."""
        catalog = database if isinstance(database, str) else self.config.credentials.database
        return super().get_relation(catalog, schema, identifier)

    def pre_model_hook(self, config: Any) -> None:
        """dbt-spark's macros ask the model for its file format and mean parquet when there is none."""
        config.model.config.extra.setdefault("file_format", DEFAULT_FILE_FORMAT)
        check_grants(config.model, self._macro_named)

    def _macro_named(self, name: str) -> Any:
        resolver = self.get_macro_resolver()
        return None if resolver is None else resolver.find_macro_by_name(name, self.config.project_name, None)

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """Spark lists names without their catalog; they are looked up again with the one they were listed in."""
        found = super().list_relations_without_caching(schema_relation)
        return [relation.replace_path(database=schema_relation.database) for relation in found]

    def _build_spark_relation_list(
        self, row_list: agate.Table, relation_info_func: Callable[[agate.Row], Any]
    ) -> list[BaseRelation]:
        """The relations in `show table extended`'s rows, without the temporary views it lists in every schema."""
        listed = (row for row in row_list if row["namespace"] and not row["isTemporary"])
        return [self._relation_of(*relation_info_func(row)) for row in listed]

    def _relation_of(self, schema: str, name: str, information: str) -> BaseRelation:
        return self.Relation.create(
            schema=schema,
            identifier=name,
            type=relation_type(information),  # type: ignore[arg-type]
            information=information,
            is_delta="Provider: delta" in information,
            is_iceberg="Provider: iceberg" in information,
            is_hudi="Provider: hudi" in information,
        )

    def _describe(self, relation: BaseRelation) -> Description:
        return describe(self.execute_macro(GET_COLUMNS_IN_RELATION_RAW_MACRO_NAME, kwargs={"relation": relation}))

    def _get_columns_for_catalog(self, relation: BaseRelation) -> Iterable[dict[str, Any]]:
        return catalog_rows(relation, self._describe(relation))

    def get_catalog_for_single_relation(self, relation: BaseRelation) -> CatalogTable:
        return catalog_table(relation, self._describe(relation))

    def get_catalog(
        self, relation_configs: Iterable[RelationConfig], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[agate.Table, list[Exception]]:
        """dbt-spark's, which takes one catalog at a time: sources may well be in another than the models."""
        by_catalog = defaultdict(list)
        for relation in relation_configs:
            by_catalog[relation.database].append(relation)
        found = [super(StreamsparkAdapter, self).get_catalog(some, used_schemas) for some in by_catalog.values()]
        return merge_tables([table for table, _ in found]), [error for _, errors in found for error in errors]

    @classmethod
    def convert_time_type(cls, agate_table: agate.Table, col_idx: int) -> str:
        """Neither Delta nor Hive stores a time of day."""
        return "string"

    def debug_query(self) -> None:
        """What `dbt debug` runs: tells about Spark, Delta, Java, the warehouse and row tracking."""
        handle = self.connections.get_thread_connection().handle
        with self.connections.exception_handler("dbt debug"):
            for what, how in facts(handle.session):
                say(f"  {what}: {how}")
