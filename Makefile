# Everything is set up in .venv by the first command that needs it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo pipeline quick test thorough lint docs benchmark clean

demo: $(READY)
	$(BIN)/recollect demo --out out

pipeline: $(READY)
	$(BIN)/recollect pipeline examples/pipeline.toml

quick: $(READY)
	RECOLLECT_INTERPRETED=1 $(BIN)/python -m pytest -n 2 --dist loadgroup \
		-m "not spark and not compiled and not thorough" tests src
	$(BIN)/ruff check .
	$(BIN)/lint-imports

test: $(READY) lint
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not thorough"

thorough: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo site/index.html

benchmark: $(READY)
	$(BIN)/python -m pip install --quiet --group peers
	mkdir -p out
	$(BIN)/python benchmarks/join.py --out out
	$(BIN)/python benchmarks/spark_join.py --out out
	$(BIN)/python benchmarks/profiles.py
	$(BIN)/python benchmarks/locality.py --out out
	$(BIN)/python benchmarks/counting.py
	$(BIN)/python benchmarks/lookup.py
	$(BIN)/python benchmarks/intervals.py

$(READY): pyproject.toml papers/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "recollect needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[all]" --editable papers --group dev
	touch $@

clean:
	rm -rf $(VENV) out site
