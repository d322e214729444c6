"""The profile: `type` and `schema` are enough, the rest has defaults that run Spark inside dbt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dbt.adapters.contracts.connection import Credentials
from dbt_common.exceptions import DbtConfigError

from dbt.adapters.streamspark.launch import LaunchOptions
from dbt.adapters.streamspark.near import near

DEFAULT_CATALOG = "spark_catalog"
LATER_METHODS = ("connect", "thrift")
LATER_KEYS = ("host", "port", "user", "token")  # of those methods


@dataclass
class StreamsparkCredentials(Credentials):
    """One output of profiles.yml. Raises DbtConfigError for a method that is unknown or comes later, and its keys, and
    for a key that is nearly one of ours; others are left alone, as dbt-spark's profiles have them."""

    database: str | None = None  # type: ignore[assignment]
    schema: str = "default"
    method: str = "session"
    master: str | None = None
    warehouse_dir: str = "spark-warehouse"
    spark_config: dict[str, Any] = field(default_factory=dict)
    packages: list[str] = field(default_factory=list)
    driver_memory: str = "2g"

    project_root: ClassVar[str] = "."  # set by the connection manager; no part of the profile
    _ALIASES: ClassVar[dict[str, str]] = {
        "catalog": "database",
        "server_side_parameters": "spark_config",
    }

    @classmethod
    def validate(cls, data: Any) -> None:
        later = [key for key in LATER_KEYS if key in data]
        if later:
            raise DbtConfigError(
                f"The profile has `{'`, `'.join(later)}`, for `method: connect` and `thrift`, which come later. Leave "
                "that out: Spark runs in dbt's own process, and with `master` it drives a cluster."
            )
        _refuse_misspelt(data, {*cls.__dataclass_fields__, *cls._ALIASES})
        super().validate(data)

    @classmethod
    def __pre_deserialize__(cls, data: Any) -> Any:
        data = super().__pre_deserialize__(data)
        data.setdefault("database", None)
        if not data.get("schema"):
            raise DbtConfigError("The profile needs a `schema`: the one that dbt builds its models in.")
        return data

    def __post_init__(self) -> None:
        if self.method in LATER_METHODS:
            raise DbtConfigError(
                f"`method: {self.method}` comes later. Use `method: session` (the default); with `master` it "
                "drives a cluster too."
            )
        if self.method != "session":
            allowed = ", ".join(("session", *LATER_METHODS))
            raise DbtConfigError(f"`method: {self.method}` is unknown. Allowed: {allowed}.")
        if self.database == DEFAULT_CATALOG:
            self.database = None

    @property
    def type(self) -> str:
        return "streamspark"

    @property
    def unique_field(self) -> str:
        return self.master or "local"

    def _connection_keys(self) -> tuple[str, ...]:
        return ("method", "master", "database", "schema", "warehouse_dir", "packages", "driver_memory")

    def launch_options(self) -> LaunchOptions:
        """What starting Spark needs; a relative `warehouse_dir` is under the project."""
        config = {str(key): _conf_text(value) for key, value in self.spark_config.items()}
        return LaunchOptions(
            warehouse=Path(self.project_root, self.warehouse_dir).absolute(),
            master=self.master or config.get("spark.master", "local[*]"),
            driver_memory=self.driver_memory,
            packages=tuple(self.packages),
            spark_config=config,
        )


def _conf_text(value: Any) -> str:
    """A Spark conf's text: YAML's true and false are Spark's."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _refuse_misspelt(keys: Iterable[str], ours: set[str]) -> None:
    for key in sorted({*keys} - ours):
        meant = near(key, sorted(ours), alike=0.8)
        if meant:
            raise DbtConfigError(f"The profile has `{key}`, which is no setting.{meant}")
