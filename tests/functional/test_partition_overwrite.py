"""insert_overwrite reads streams whose rows are chosen by their ids: Delta's dynamic overwrite, asked for by conf,
optimizes the query twice and then takes another field of a file's metadata for the row id."""

from __future__ import annotations

import pytest

from tests.functional.projects import READY, SOURCES, World, run
from tests.functional.test_strategies import consumer, stream


class TestRowIdsInAFilter:
    prepare = (
        f"create table {{raw}}.people (id int, city string) using delta {READY}",
        "insert into {raw}.people values (1, 'Ulm'), (2, 'Bonn'), (3, 'Kiel')",
    )

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        count = "select count(*) as n, city from {{ source('raw', 'people') }} where city in (%s) group by city"
        new = "select city from {{ stream('arrivals') }}"
        late = "select city from {{ stream('changes') }} where _commit_version > 0 and _row_id >= '0'"
        return {
            "sources.yml": SOURCES,
            "arrivals.sql": stream("people", "mode='append_only', show_initial_rows=true"),
            "changes.sql": stream("people"),
            "by_arrival.sql": consumer("insert_overwrite", count % new, "partition_by='city'"),
            "by_change.sql": consumer("insert_overwrite", count % late, "partition_by='city'"),
        }

    def test_the_partitions_of_changed_rows_are_written(self, world: World) -> None:
        run("run")
        assert world.rows("by_arrival") == world.rows("by_change") == [(1, "Bonn"), (1, "Kiel"), (1, "Ulm")]
        world.sql("insert into {raw}.people values (4, 'Ulm'), (5, 'Jena')", "delete from {raw}.people where id = 3")
        results = run("run", "--exclude", "arrivals", "changes")
        assert world.rows("by_arrival") == world.rows("by_change") == [
            (1, "Bonn"), (1, "Jena"), (1, "Kiel"), (2, "Ulm"),
        ]  # fmt: skip
        assert results["by_arrival"].adapter_response["rows_affected"] == 2


class TestARowOfTheTargetIsWrittenAgain:
    """Spark 4.2 forgets the options of an INSERT whose rows come from its own target."""

    prepare = TestRowIdsInAFilter.prepare

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        kept = (
            "select id, city from {{ stream('arrivals') }} {% if is_incremental() %} union all "
            "select id, city from {{ this }} where city in (select city from {{ stream('arrivals') }}) {% endif %}"
        )
        return {
            "sources.yml": SOURCES,
            "arrivals.sql": stream("people", "mode='append_only', show_initial_rows=true"),
            "kept.sql": consumer("insert_overwrite", kept, "partition_by='city'"),
        }

    def test_the_other_partitions_stay(self, world: World) -> None:
        run("run")
        world.sql("insert into {raw}.people values (4, 'Ulm'), (5, 'Jena')")
        run("run")
        assert world.rows("kept") == [(1, "Ulm"), (2, "Bonn"), (3, "Kiel"), (4, "Ulm"), (5, "Jena")]
