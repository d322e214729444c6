"""Hooks around models, seeds, snapshots and whole runs."""

from __future__ import annotations

import os
from typing import Any

import pytest
from dbt.tests.adapter.hooks.test_model_hooks import (
    BaseDuplicateHooksInConfigs,
    BaseHookRefs,
    BaseHooksRefsOnSeeds,
    BasePrePostModelHooks,
    BasePrePostModelHooksInConfig,
    BasePrePostModelHooksInConfigKwargs,
    BasePrePostModelHooksInConfigWithCount,
    BasePrePostModelHooksOnSeeds,
    BasePrePostModelHooksOnSeedsPlusPrefixed,
    BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
    BasePrePostModelHooksOnSnapshots,
    BasePrePostSnapshotHooksInConfigKwargs,
    TestPrePostModelHooksUnderscores,
)
from dbt.tests.adapter.hooks.test_run_hooks import BaseAfterRunHooks, BasePrePostRunHooks

from tests.conformance.hooks_on_spark import ModelHooks, RunHooks, create_hook_table

BasePrePostModelHooksUnderscores = TestPrePostModelHooksUnderscores
del TestPrePostModelHooksUnderscores  # or pytest would collect the Postgres one too


class TestPrePostModelHooks(ModelHooks, BasePrePostModelHooks):
    pass


class TestPrePostModelHooksWithUnderscores(ModelHooks, BasePrePostModelHooksUnderscores):
    pass


class TestHookRefs(ModelHooks, BaseHookRefs):
    pass


class TestPrePostModelHooksOnSeeds(BasePrePostModelHooksOnSeeds):
    pass


class TestHooksRefsOnSeeds(BaseHooksRefsOnSeeds):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixed(BasePrePostModelHooksOnSeedsPlusPrefixed):
    pass


class TestPrePostModelHooksOnSeedsPlusPrefixedWhitespace(BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace):
    pass


class TestPrePostModelHooksOnSnapshots(BasePrePostModelHooksOnSnapshots):
    pass


class TestPrePostModelHooksInConfig(ModelHooks, BasePrePostModelHooksInConfig):
    pass


class TestPrePostModelHooksInConfigWithCount(ModelHooks, BasePrePostModelHooksInConfigWithCount):
    pass


class TestPrePostModelHooksInConfigKwargs(ModelHooks, BasePrePostModelHooksInConfigKwargs):
    pass


class TestPrePostSnapshotHooksInConfigKwargs(BasePrePostSnapshotHooksInConfigKwargs):
    pass


class TestDuplicateHooksInConfigs(BaseDuplicateHooksInConfigs):
    pass


class TestPrePostRunHooks(RunHooks, BasePrePostRunHooks):
    @pytest.fixture(scope="function")
    def setUp(self, project: Any) -> None:
        create_hook_table(project, "on_run_hook")
        for name in ("schemas", "db_schemas"):
            project.run_sql(f"drop table if exists {project.test_schema}.{name}")
        os.environ["TERM_TEST"] = "TESTING"

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        schema = "{{ target.schema }}"
        return {
            "on-run-start": [
                "{{ custom_run_hook('start', target, run_started_at, invocation_id) }}",
                f"create table {schema}.start_hook_order_test (id int)",
                f"drop table {schema}.start_hook_order_test",
                "{{ log(env_var('TERM_TEST'), info=True) }}",
            ],
            "on-run-end": [
                "{{ custom_run_hook('end', target, run_started_at, invocation_id) }}",
                f"create table {schema}.end_hook_order_test (id int)",
                f"drop table {schema}.end_hook_order_test",
                f"create table {schema}.schemas (schema string)",
                f"insert into {schema}.schemas values {{% for schema in schemas %}}('{{{{ schema }}}}')"
                "{% if not loop.last %},{% endif %}{% endfor %}",
                f"create table {schema}.db_schemas (db string, schema string)",
                f"insert into {schema}.db_schemas values {{% for db, schema in database_schemas %}}"
                "('{{ db }}', '{{ schema }}'){% if not loop.last %},{% endif %}{% endfor %}",
            ],
            "seeds": {"quote_columns": False},
        }


class TestAfterRunHooks(BaseAfterRunHooks):
    pass
