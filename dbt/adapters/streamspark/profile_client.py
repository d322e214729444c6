"""The ingest client on the Spark that a dbt profile describes."""

from __future__ import annotations

import os
from contextvars import copy_context
from pathlib import Path
from typing import Any

from dbt_common.context import set_invocation_context
from pyspark.sql import SparkSession

from dbt.adapters.streamspark import launch
from dbt.adapters.streamspark.credentials import StreamsparkCredentials
from dbt.adapters.streamspark.ingest.client import StreamingIngestClient
from dbt.adapters.streamspark.session import isolated


def client_from_profile(
    client_name: str,
    profile: str,
    target: str | None = None,
    *,
    table: str | None = None,
    profiles_dir: str | Path | None = None,
    project_dir: str | Path = ".",
    **options: Any,
) -> StreamingIngestClient:
    """A StreamingIngestClient for `profile` and `target` (default: the profile's own) of the profiles.yml in
    `profiles_dir` (default: `project_dir`). A relative `warehouse_dir` is under `project_dir`; a `table` without a
    schema is in the profile's. Spark is started unless it runs in this process; close the client before it ends.

    Raises what dbt raises for a profile that is not there or not right, LaunchError, StreamingIngestError.
    """
    folder = Path(profiles_dir or project_dir)
    credentials = copy_context().run(_credentials, profile, target, folder)
    made = credentials.launch_options()
    warehouse = Path(project_dir, credentials.warehouse_dir).absolute()
    wanted = launch.LaunchOptions(warehouse, made.master, made.driver_memory, made.packages, made.spark_config)
    spark = isolated(launch.running_session() or launch.start(wanted), made.spark_config)
    return StreamingIngestClient(spark, client_name, _qualified(spark, credentials.schema, table), **options)


def _credentials(profile: str, target: str | None, profiles_dir: Path) -> StreamsparkCredentials:
    from dbt.config.profile import Profile, read_profile  # dbt-core, which is there wherever profiles are
    from dbt.config.renderer import ProfileRenderer
    from dbt.exceptions import DbtProjectError

    set_invocation_context(os.environ)  # env_var() asks for it; a dbt run of this process may have left an old one
    found = read_profile(str(profiles_dir))
    if profile not in found:
        raise DbtProjectError(f"{profiles_dir / 'profiles.yml'} has no profile {profile}, only {', '.join(found)}")
    _, data = Profile.render_profile(found[profile], profile, target, ProfileRenderer({}))
    fields = StreamsparkCredentials.translate_aliases({k: v for k, v in data.items() if k not in ("type", "threads")})
    StreamsparkCredentials.validate(fields)
    return StreamsparkCredentials.from_dict(fields)


def _qualified(spark: SparkSession, schema: str, table: str | None) -> str | None:
    if table is None or "." in table:
        return table
    return f"{schema}.{table}"
