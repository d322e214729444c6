{#-
  The constraints of an enforced contract are CHECKs, which are in the CREATE of the table: what breaks them is never
  written. (Delta takes NOT NULL only of a table whose columns are listed.) A table that was made before gets those that
  it lacks.
-#}
{% macro streamspark__persist_constraints(relation, model) -%}
  {%- set checks = checks_of_contract() -%}
  {%- set there = adapter.constraints_of(relation.render()) if checks else [] -%}
  {%- for name, test in checks.items() if name | lower not in there -%}
    {%- call statement() -%}
      alter table {{ relation }} add constraint {{ quoted_column(name) }} check ({{ test }})
    {%- endcall -%}
  {%- endfor -%}
{%- endmacro %}


{#- Name -> predicate. -#}
{% macro checks_of_contract() -%}
  {%- set checks = {} -%}
  {%- if (config.get('contract') or {}).enforced and config.get('file_format') == 'delta' -%}
    {%- do add_checks(checks, model.constraints) -%}
    {%- for column in model.columns.values() -%}
      {%- do add_checks(checks, column.constraints or [], column.name) -%}
    {%- endfor -%}
  {%- endif -%}
  {{ return(checks) }}
{%- endmacro %}


{% macro add_checks(checks, constraints, column=none) -%}
  {%- for constraint in constraints -%}
    {%- if constraint.type == 'check' -%}
      {%- do checks.update({constraint.name or 'check_' ~ local_md5(constraint.expression): constraint.expression}) -%}
    {%- elif constraint.type == 'not_null' and column is not none -%}
      {%- do checks.update({constraint.name or column ~ '_not_null': quoted_column(column) ~ ' is not null'}) -%}
    {%- else -%}
      {%- do exceptions.warn("The constraint '" ~ constraint.type ~ "' is not kept; check, and not_null of a column, are.") -%}
    {%- endif -%}
  {%- endfor -%}
{%- endmacro %}
