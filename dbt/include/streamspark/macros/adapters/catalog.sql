{# A catalog other than Spark's own is the first part of a three-part name; dbt calls it database. #}

{% macro streamspark__generate_database_name(custom_database_name=none, node=none) -%}
  {%- set catalog = custom_database_name or target.database -%}
  {%- do return(none if catalog == 'spark_catalog' else catalog) -%}
{%- endmacro %}

{% macro streamspark__list_schemas(database) -%}
  {%- call statement('list_schemas', fetch_result=True, auto_begin=False) -%}
    show databases{{ ' in ' ~ database if database }}
  {%- endcall -%}
  {{ return(load_result('list_schemas').table) }}
{%- endmacro %}

{% macro streamspark__list_relations_without_caching(relation) -%}
  {%- call statement('list_relations_without_caching', fetch_result=True) -%}
    show table extended in {{ relation.without_identifier() }} like '*'
  {%- endcall -%}
  {% do return(load_result('list_relations_without_caching').table) %}
{%- endmacro %}
