# Everything runs in .venv, made on first use. PYTHON=python3.12 make test takes another Python.
PYTHON ?= python3.11
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: install demo test lint bench archive

install: $(INSTALLED)

$(INSTALLED): pyproject.toml
	@echo "Installing into .venv; PySpark is a large download the first time."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --editable . --group test --group demo
	@touch $@

demo: install
	@$(BIN)/python integration_tests/demo.py

# The fastest first, those marked `long` last. A Spark that runs many small queries keeps one core busy, so two run side by
# side, a file to each in turn.
test: install
	$(BIN)/python -m pytest tests/unit -n 2
	$(BIN)/python -m pytest tests/spark tests/functional tests/conformance tests/faults -n 2 --dist loadfile --no-loadscope-reorder --durations=15 -rs

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The Sparks that start from this .venv afterwards have their classes at hand.
archive: install
	@$(BIN)/python -m dbt.adapters.streamspark.archive_classes

bench: install
	@$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks
