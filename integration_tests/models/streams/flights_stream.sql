-- Every change of the board. The rows that are there when the stream is made count as inserts.
{{ config(mode='standard', show_initial_rows=true) }}
select * from {{ source('raw', 'flights') }}
