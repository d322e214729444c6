-- append from an append_only stream: what landed, once each.
{{ config(incremental_strategy='append') }}
select origin, observed_on, hour, temp, wind_speed, precip, visib, _commit_version
from {{ stream('weather_stream') }}
