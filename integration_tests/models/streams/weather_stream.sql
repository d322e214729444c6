-- A landing table: only rows that came in, and only the columns that somebody reads.
{{ config(mode='append_only', show_initial_rows=true) }}
select origin, observed_on, hour, temp, wind_speed, precip, visib
from {{ source('raw', 'weather') }}
