"""What each consumer must hold in the end, computed from the archive alone: no stream, no target, no
table of the loader is read. The change logs are told from the board at the close of each round.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

import history
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

LOGGED = "flight_date, carrier, flight, origin, tailnum, dep_time, arr_time, arr_delay"
LATEST = "flight_date, carrier, flight, origin, dep_time, arr_time"
SAME_FLIGHT = " and ".join(f"old.{c} = new.{c}" for c in history.FLIGHT_KEY)


@dataclass(frozen=True)
class Difference:
    """How many rows of a full rebuild the target lacks, and how many it has too many."""

    rows: int
    missing: int
    surplus: int

    @property
    def is_none(self) -> bool:
        return self.missing == self.surplus == 0


def expected(rounds: list[date]) -> dict[str, str]:
    """Consumer -> SELECT of its right contents after dbt built at the close of each of these days."""
    before = rounds[-2] if len(rounds) > 1 else None
    day = rounds[-1]
    return {
        "flight_changes": _every_change(rounds),
        "flights_current": history.flights_at(day),
        "planes_current": history.planes_at(day),
        "planes_history": _planes_history(rounds),
        "flight_status": _status(rounds),
        "day_summary": _day_summary(day),
        "month_to_date": _months(day),
        "weather_log": "select origin, observed_on, hour, temp, wind_speed, precip, visib "
        f"from ({history.weather_at(day)})",
        "latest_changes": changes_between(before, day, LATEST),
        "route_totals": _routes(day),
        "flight_makers": _makers(day),
        "worst_flights": _worst(day),
    }


def changes_between(before: date | None, day: date, columns: str) -> str:
    """Net changes of the board between the close of two days, paired by the flight's key. Flights of days
    before the first are settled: their rows are the same at both."""
    if before is None:
        return f"select {columns}, 'insert' as _change_type from ({history.flights_at(day)})"
    settled = before - timedelta(1)
    old, new = history.flights_at(before, after=settled), history.flights_at(day, after=settled)
    both = f"({old}) old join ({new}) new on {SAME_FLIGHT} where struct(old.*) <=> struct(new.*) = false"
    old_only = f"({old}) old left anti join ({new}) new on {SAME_FLIGHT}"
    new_only = f"({new}) new left anti join ({old}) old on {SAME_FLIGHT}"
    return " union all ".join(
        (
            f"select {_of('old', columns)}, 'update_preimage' as _change_type from {both}",
            f"select {_of('new', columns)}, 'update_postimage' as _change_type from {both}",
            f"select {_of('old', columns)}, 'delete' as _change_type from {old_only}",
            f"select {_of('new', columns)}, 'insert' as _change_type from {new_only}",
        )
    )


def _of(side: str, columns: str) -> str:
    return ", ".join(f"{side}.{column}" for column in columns.split(", "))


def _every_change(rounds: list[date]) -> str:
    steps = pairwise([None, *rounds])
    return " union all ".join(changes_between(old, new, LOGGED) for old, new in steps)


def _status(rounds: list[date]) -> str:
    """Flights on the board, and those that were on it at the close of a round and were cancelled since."""
    seen = ", ".join(f"date'{day}'" for day in rounds[:-1]) or "null"
    return (
        "select flight_date, carrier, flight, origin, dest, case when arr_delay is not null then 'arrived' "
        "when arr_time is not null then 'diverted' when dep_time is not null then 'departed' "
        f"else 'scheduled' end as status from ({history.flights_at(rounds[-1])}) "
        "union all select flight_date, carrier, flight, origin, dest, 'cancelled' from archive_flights "
        f"where dep_time is null and flight_date in ({seen})"
    )


def _planes_history(rounds: list[date]) -> str:
    """The register at the close of each round; a plane is as it was until it flew again."""
    seen = " union ".join(history.planes_at(day) for day in rounds)
    again = "lead(last_flown) over (partition by tailnum order by last_flown)"
    return f"select *, last_flown as valid_from, {again} as valid_to, {again} is null as is_current from ({seen})"


def _day_summary(day: date) -> str:
    return (
        "select * from (select count(*) as flights, count(dep_time) as departed, count(arr_time) as arrived, "
        f"sum(arr_delay) as minutes_late, flight_date from ({history.flights_at(day)}) group by flight_date) "
        "left join (select observed_on as flight_date, max(wind_speed) as strongest_wind, "
        "min(visib) as worst_visibility, sum(precip) as rain "
        f"from ({history.weather_at(day)}) group by observed_on) using (flight_date)"
    )


def _months(day: date) -> str:
    return (
        "select trunc(flight_date, 'month') as month, name as airline, count(*) as flights, "
        "count(arr_time) as arrived, sum(if(arr_delay > 15, 1, 0)) as late "
        f"from ({history.flights_at(day)}) join archive_airlines using (carrier) group by month, airline"
    )


def _routes(day: date) -> str:
    return (
        "select carrier, origin, dest, count(*) as flights, count(arr_time) as arrived, sum(distance) as miles "
        f"from ({history.flights_at(day)}) group by carrier, origin, dest"
    )


def _makers(day: date) -> str:
    """The flights of the day's month, each with what the register of the day's close says of its plane."""
    flown = history.flights_at(day, after=_month_before(day))
    return (
        "select flight_date, carrier, flight, origin, manufacturer, last_flown "
        f"from ({flown}) left join ({history.planes_at(day)}) using (tailnum)"
    )


def _worst(day: date) -> str:
    place = "row_number() over (partition by flight_date order by arr_delay desc, carrier, flight, origin)"
    late = f"({history.flights_at(day, after=_month_before(day))}) where arr_delay is not null"
    return f"select flight_date, carrier, flight, origin, arr_delay from {late} qualify {place} <= 3"


def _month_before(day: date) -> date:
    """Its last day."""
    return day.replace(day=1) - timedelta(1)


def difference(spark: SparkSession, target: str, query: str) -> Difference:
    """Compares a target with its rebuild, as EXCEPT ALL both ways would, in one pass: each row counts for one
    side or the other. Columns that a rebuild cannot know (row ids, commit versions) are left out."""
    rebuilt = spark.sql(query)
    sides = rebuilt.withColumn("side", F.lit(1)).unionAll(
        spark.table(target).select(rebuilt.columns).withColumn("side", F.lit(-1))
    )
    counts = sides.groupBy(rebuilt.columns).agg(F.expr("sum(side) as more"), F.expr("count_if(side = 1) as n"))
    row = counts.agg(F.expr("sum(n)"), F.expr("sum(greatest(more, 0))"), F.expr("sum(greatest(-more, 0))")).head()
    return Difference(*row)
