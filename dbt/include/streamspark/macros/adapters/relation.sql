{# A stream is a view to Spark, so it is dropped and renamed as one. #}

{% macro streamspark__drop_relation(relation) -%}
  {%- call statement('drop_relation', auto_begin=False) -%}
    drop {{ 'view' if relation.type == 'stream' else relation.type }} if exists {{ relation }}
  {%- endcall -%}
{%- endmacro %}

{% macro streamspark__rename_relation(from_relation, to_relation) -%}
  {%- if from_relation.type not in ('table', 'view', 'stream') -%}
    {%- do exceptions.raise_database_error(
        "Cannot rename " ~ from_relation ~ ": it is of type '" ~ from_relation.type ~ "', not a table, view or stream"
    ) -%}
  {%- endif -%}
  {%- call statement('rename_relation') -%}
    alter {{ 'table' if from_relation.type == 'table' else 'view' }} {{ from_relation }} rename to {{ to_relation }}
  {%- endcall -%}
{%- endmacro %}
