{#
  Run the statements that build a model. The last one writes the model's table; for a model that reads streams it is
  the commit that moves their offsets, and nothing else runs under that commit's settings.
#}
{% macro run_main(statements) -%}
  {%- if adapter.consumption_of(model) is not none -%}
    {%- do log('Writing runtime sql for node "' ~ model.unique_id ~ '"') -%}
    {%- do write(statements[-1]) -%}
    {%- do store_result('main', adapter.commit_consumption(model, statements)) -%}
    {{ return('') }}
  {%- endif -%}
  {%- for sql in statements[:-1] -%}
    {%- call statement() -%}{{ sql }}{%- endcall -%}
  {%- endfor -%}
  {%- call statement('main') -%}{{ statements[-1] }}{%- endcall -%}
{%- endmacro %}
