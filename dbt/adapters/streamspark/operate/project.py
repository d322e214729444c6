"""What a dbt project says of its models, as far as operations ask. Without a project they go by the catalog alone."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.streamspark.errors import InvalidArgument


@dataclass(frozen=True)
class ProjectModel:
    """`relation` is the name in the catalog, `reads` the unique ids of the models that it refers to, `consumer` the
    name by which it consumes. `version` is empty where the model has none."""

    unique_id: str
    name: str
    relation: str
    materialized: str
    consumer: str = ""
    format: str = ""
    reads: tuple[str, ...] = ()
    version: str = ""
    is_latest: bool = True

    @property
    def package(self) -> str:
        return self.unique_id.split(".")[1]

    @property
    def names(self) -> set[str]:
        """What it may be called, in lower case. A name alone means the latest version, as in ref()."""
        versions = [f"{self.name}.v{self.version}", f"{self.name}_v{self.version}"] if self.version else []
        names = [*versions, *([self.name] if self.is_latest else [])]
        return {name.lower() for name in (*names, *(f"{self.package}.{name}" for name in names))}


@dataclass(frozen=True)
class Project:
    """`schema` is the profile's, in which names without a schema are looked for."""

    schema: str
    models: tuple[ProjectModel, ...] = ()

    def named(self, name: str) -> ProjectModel | None:
        """The model whose table or view is called so, or that has that name: `name`, `name.v1` or `name_v1` for a
        version, each also behind its package's. Raises InvalidArgument where several have it."""
        found = [model for model in self.models if name.lower() in model.names]
        stored = self.stored_as(name)
        if stored is None and len(found) > 1:
            raise _ambiguous(name, found)
        return stored or (found[0] if found else None)

    def stored_as(self, relation: str) -> ProjectModel | None:
        """The model whose table or view is called so in the catalog."""
        return next((model for model in self.models if model.relation.lower() == relation.lower()), None)

    def readers(self, relation: str) -> list[ProjectModel]:
        """The models that refer to the model whose table or view this is."""
        read = self.stored_as(relation)
        return [model for model in self.models if read is not None and read.unique_id in model.reads]

    @property
    def schemas(self) -> list[str]:
        """Those of the models, and the profile's."""
        return list(dict.fromkeys([self.schema, *(model.relation.rpartition(".")[0] for model in self.models)]))


def _ambiguous(name: str, found: list[ProjectModel]) -> InvalidArgument:
    models = " and ".join(f"{model.unique_id} ({model.relation})" for model in found)
    return InvalidArgument(
        f"{name} is the name of {len(found)} models: {models}. Say which by its package, such as "
        f"{found[0].package}.{name}, or by its name in the catalog."
    )
