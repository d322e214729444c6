"""What dbt loads: the adapter, its credentials and its macros, on top of dbt-spark's."""

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.streamspark.credentials import StreamsparkCredentials
from dbt.adapters.streamspark.impl import StreamsparkAdapter
from dbt.include import streamspark

Plugin = AdapterPlugin(
    adapter=StreamsparkAdapter,  # type: ignore[arg-type]
    credentials=StreamsparkCredentials,
    include_path=streamspark.PACKAGE_PATH,
    dependencies=["spark"],
)
