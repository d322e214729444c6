-- replace_where: the open month is written afresh whenever the stream brings something.
{{ config(
    incremental_strategy='replace_where',
    replace_where="month >= date'" ~ var('open_month') ~ "'"
) }}
with touched as (
    select distinct trunc(flight_date, 'month') as month from {{ stream('flights_stream') }}
)
select
    month, airline,
    count(*) as flights,
    count(arr_time) as arrived,
    sum(if(arr_delay > 15, 1, 0)) as late
from (select *, trunc(flight_date, 'month') as month from {{ source('raw', 'flights') }})
join touched using (month)
join {{ ref('stg_airlines') }} using (carrier)
{% if is_incremental() %}
where month >= date'{{ var('open_month') }}'
{% endif %}
group by month, airline
