"""What a merge by position asks of the target."""

from __future__ import annotations

from pyspark.sql.types import LongType

from dbt.adapters.streamspark.changes.differentiate.keys import Column
from dbt.adapters.streamspark.consume.merge import Merge, When
from dbt.adapters.streamspark.consume.merge_queries import MergeQueries


def test_keys_are_compared_as_single_values_where_none_is_null() -> None:
    """The statement that Delta runs takes NULL for equal all the same: it may be planned again with other rows."""
    keys = [("a", "s.a"), ("b", "s.b")]
    merge = Merge("t", "source", keys, [], When("", {"a": "s.a"}), known={"b": Column(LongType(), (1, 2))})
    queries = MergeQueries(merge, ["a", "b"], "rows")
    assert "on t.`a` <=> s.a and t.`b` = s.b where" in queries.matches()
    assert "on m.__streamspark_key0 <=> s.a and m.__streamspark_key1 = s.b where" in queries.written("matches")
    assert "on t.`a` <=> s.a and t.`b` <=> s.b" in merge.sql()
