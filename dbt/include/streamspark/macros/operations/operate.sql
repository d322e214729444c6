{#-
  Run one of the adapter's operations and print what it tells. Every operation takes `format: json` for one line of JSON.
  It ends as a failure (exit code 1) on an error and where an operation says so, after its output.
-#}
{% macro operate(operation, arguments, format, schema=none) -%}
  {%- set done = adapter.operate(operation, arguments, format, graph, {'profile': target.schema, 'asked': schema}) -%}
  {%- do print(done.output) -%}
  {%- if done.failure -%}
    {%- do exceptions.raise_compiler_error(done.failure) -%}
  {%- endif -%}
{%- endmacro %}
