"""What a query does not read has not changed for it: no job, and no rows."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.streamspark.changes import changes
from tests.spark.jobs import jobs_of
from tests.spark.queries.history import History
from tests.spark.queries.traps import of


class TestJobs:
    @pytest.fixture
    def three(self, history: History) -> History:
        for name in ("a", "b", "c"):
            history.table(name, "k int, v int")
            history.run(f"insert into {name} values (1, 1), (2, 2)")
        return history.marked(["insert into a values (3, 3)"])

    @pytest.mark.parametrize(
        "query",
        [
            "select * from b", "select b.k from b join c on b.k = c.k", "select k, count(*) n from b group by k",
            "select b.k from b full join c using (k)", "select * from b where k not in (select k from c)",
            "select k, sum(v) over (partition by k) s from b", "select k from b order by k limit 1", "select k from b union select k from c",
            "select k, (select max(v) from c) m from b", "select * from b pivot (sum(v) for k in (1, 2))",
        ],
    )  # fmt: skip
    def test_a_query_of_unchanged_tables_runs_no_job(self, spark: SparkSession, three: History, query: str) -> None:
        with jobs_of(spark) as jobs:
            assert changes(three.session, query, three.points[0], three.points[1]).collect() == []
        assert jobs.count == 0

    @pytest.mark.parametrize("statement", ["insert into a values (7, 7)", "insert overwrite a values (7, 7)"])
    def test_rows_that_a_small_file_took_along_are_computed_once(
        self, spark: SparkSession, three: History, statement: str
    ) -> None:
        three.run(statement)
        three.mark()
        query = "select k, count(distinct v) n from a group by k"
        of(three, query, 1, 2)  # the files of both ends are listed
        with jobs_of(spark) as jobs:
            of(three, query, 1, 2)
        assert jobs.count == 2  # the keys that changed, and their groups

    def test_an_update_of_columns_that_the_query_does_not_name(self, three: History) -> None:
        three.run("update a set v = 100 where k = 1")
        three.mark()
        for query in (
            "select k from a",
            "select k, count(*) n from a group by k",
            "select a.k from a left join b using (k)",
        ):
            assert of(three, query, 1, 2) == []
