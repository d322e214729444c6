-- The same stream in another dialect: METADATA$ACTION, METADATA$ISUPDATE, METADATA$ROW_ID.
{{ config(mode='standard', show_initial_rows=true, metadata_columns='snowflake') }}
select * from {{ source('raw', 'planes') }}
