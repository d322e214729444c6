-- append: the audit log. Every net change of every run, with the stream's metadata columns.
{{ config(incremental_strategy='append') }}
select
    flight_date, carrier, flight, origin, tailnum, dep_time, arr_time, arr_delay,
    _change_type, _commit_version, _commit_timestamp, _row_id
from {{ stream('flights_stream') }}
