"""The project as dbt's `graph` tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.streamspark.operate.project import Project, ProjectModel
from dbt.adapters.streamspark.relation import StreamsparkRelation
from dbt.adapters.streamspark.streams.consumers import consumer_name


def project_of(graph: Mapping[str, Any], schema: str = "") -> Project:
    """`schema` is the profile's."""
    nodes = [node for node in graph.get("nodes", {}).values() if node["resource_type"] == "model"]
    return Project(schema, tuple(_model(node) for node in nodes))


def in_catalog(point: Any, graph: Mapping[str, Any]) -> Any:
    """A point in the past; where it is the start of a stream, which may go by its model's name, with the catalog's."""
    if not isinstance(point, Mapping) or set(point) != {"stream"}:
        return point
    model = project_of(graph).named(str(point["stream"]))
    return point if model is None else {"stream": model.relation}


def _model(node: Mapping[str, Any]) -> ProjectModel:
    relation = StreamsparkRelation.create(node.get("database"), node["schema"], node["alias"])
    config, version = node["config"], node.get("version")
    return ProjectModel(
        unique_id=node["unique_id"],
        name=node["name"],
        relation=relation.render(),
        materialized=str(config.get("materialized")),
        consumer=consumer_name(node["unique_id"], config),
        format=str(config.get("format") or ""),
        reads=tuple(node["depends_on"]["nodes"]),
        version="" if version is None else str(version),
        is_latest=version is None or version == node.get("latest_version"),
    )
