"""What `dbt init` asks for makes a profile that works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.streamspark.credentials import StreamsparkCredentials
from dbt.include import streamspark

ASKED = {"hint", "default", "type", "hide_input"}  # all that dbt init knows of a prompt


@pytest.fixture
def template() -> dict[str, Any]:
    return yaml.safe_load(Path(streamspark.PACKAGE_PATH, "profile_template.yml").read_text())


def test_every_question_has_a_hint_and_a_default(template: dict[str, Any]) -> None:
    assert set(template) == {"fixed", "prompts"}
    for name, prompt in template["prompts"].items():
        assert {"hint", "default"} <= set(prompt) <= ASKED, name


def test_the_defaults_are_a_profile(template: dict[str, Any]) -> None:
    answers = {name: prompt["default"] for name, prompt in template["prompts"].items()}
    profile = {**template["fixed"], **answers}
    assert profile.pop("type") == "streamspark"
    assert profile.pop("threads") == 4
    StreamsparkCredentials.validate(profile)
    made = StreamsparkCredentials.from_dict(profile)
    assert made.to_dict() == StreamsparkCredentials(schema="analytics", master="local[*]").to_dict()
