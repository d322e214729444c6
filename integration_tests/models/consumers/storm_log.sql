-- append from a stream on a join: each change of either table, once.
{{ config(incremental_strategy='append') }}
select * from {{ stream('storms_stream') }}
