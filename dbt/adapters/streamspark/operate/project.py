"""What a dbt project says of its models, as far as operations ask. Without a project they go by the catalog alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProjectModel:
    """`relation` is the name in the catalog, `reads` the unique ids of the models that it refers to."""

    unique_id: str
    name: str
    relation: str
    materialized: str
    strategy: str = ""
    format: str = ""
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Project:
    """`schema` is the profile's, in which names without a schema are looked for."""

    schema: str
    models: tuple[ProjectModel, ...] = ()

    def named(self, name: str) -> ProjectModel | None:
        """The model of that name, or whose table or view is called so."""
        return next(
            (model for model in self.models if name.lower() in (model.name.lower(), model.relation.lower())), None
        )

    def readers(self, relation: str) -> list[ProjectModel]:
        """The models that refer to the model whose table or view this is."""
        read = self.named(relation)
        return [model for model in self.models if read is not None and read.unique_id in model.reads]

    @property
    def schemas(self) -> list[str]:
        """Those of the models, and the profile's."""
        return list(dict.fromkeys([self.schema, *(model.relation.rpartition(".")[0] for model in self.models)]))
