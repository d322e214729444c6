"""What the airline's operational tables held at the close of a day, told by the archive alone.

The archive knows how every flight ended. An operational system learns it bit by bit:

* a flight of today is on the board: scheduled, and departed if it did; its arrival is not known yet;
* a day later the arrival is filled in, and a flight that never departed is taken off the board;
* a plane joins the register on its first departure, and its last departure moves on;
* the weather station reports every hour.

Each function returns Spark SQL over the views of `nycflights.read_archive`. `*_at` say what a table
holds at the close of a day: the loader works towards it with INSERT, MERGE and DELETE, and the final
check compares with it.
"""

from datetime import date

FLIGHT_KEY = ("flight_date", "carrier", "flight", "origin")
_AS_KNOWN = ("arr_time", "arr_delay", "air_time")
_SCHEDULED = (*FLIGHT_KEY, "dest", "tailnum", "sched_dep_time", "sched_arr_time", "distance")


def flights_at(day: date, after: date | None = None) -> str:
    """Rows of `flights` at the close of `day`; with `after`, only of flights later than that day."""
    arrivals = ", ".join(f"if(flight_date = date'{day}', null, {c}) as {c}" for c in _AS_KNOWN)
    since = f" and flight_date > date'{after}'" if after else ""
    return (
        f"select {', '.join(_SCHEDULED)}, dep_time, dep_delay, {arrivals} from archive_flights "
        f"where flight_date <= date'{day}'{since} and (dep_time is not null or flight_date = date'{day}')"
    )


def arrivals_of(day: date) -> str:
    """Key and arrival of the flights of `day` that took off."""
    return (
        f"select {', '.join((*FLIGHT_KEY, *_AS_KNOWN))} from archive_flights "
        f"where flight_date = date'{day}' and dep_time is not null"
    )


def weather_at(day: date, after: date | None = None) -> str:
    """Hourly observations up to `day`; with `after`, only later ones than that day."""
    since = f" and observed_on > date'{after}'" if after else ""
    return (
        "select origin, observed_on, hour, temp, humid, wind_speed, wind_gust, precip, visib "
        f"from archive_weather where observed_on <= date'{day}'{since}"
    )


def planes_at(day: date, after: date | None = None) -> str:
    """The register at the close of `day`: every plane that departed, with its first and last day.
    With `after`, told by the departures later than that day alone."""
    since = f" and flight_date > date'{after}'" if after else ""
    return (
        "select tailnum, any_value(p.year) as built, any_value(manufacturer) as manufacturer, "
        "any_value(model) as model, any_value(seats) as seats, "
        "min(flight_date) as first_flown, max(flight_date) as last_flown "
        "from archive_planes p join archive_flights using (tailnum) "
        f"where dep_time is not null and flight_date <= date'{day}'{since} group by tailnum"
    )
