# Three commands: `make serve`, `make quick` and `make test`. All set up what they need in .venv.

PYTHON ?= python3
BIN := .venv/bin
ENVIRONMENT := .venv/.installed
PARALLEL := --numprocesses auto --maxprocesses 4 # one worker per core; tests/conftest.py says who gets what

.PHONY: serve quick test check rooms bench endure results migration docs clean

serve: $(ENVIRONMENT)
	$(BIN)/kaczmatch serve --demo

quick: check # what needs no server, browser, fault or patience: a minute or so, for while you work
	$(BIN)/pytest $(PARALLEL) -m "not (server or browser or faults or slow)" tests/unit tests/contract

test: check # everything
	. tests/prepare.sh && $(BIN)/pytest $(PARALLEL)

check: $(ENVIRONMENT)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

rooms: $(ENVIRONMENT) # which rooms import which
	$(BIN)/python docs/rooms.py

bench: $(ENVIRONMENT)
	$(BIN)/python benchmarks/learners.py
	$(BIN)/python benchmarks/solvers.py
	$(BIN)/python benchmarks/decks.py
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/service.py
	$(BIN)/python benchmarks/availability.py

endure: $(ENVIRONMENT) # hours of kills, crashes, power cuts, broken disks and races; goes on where it was stopped
	. tests/prepare.sh && $(BIN)/python tests/endure.py

results: $(ENVIRONMENT) # the tables of the pages, from docs/results; docs/record.py writes those
	$(BIN)/python docs/render.py

migration: $(ENVIRONMENT) # make migration words="what changes"
	$(BIN)/python -m kaczmatch.storage.migrations $(words)

docs: $(ENVIRONMENT)
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/screenshots.py
	$(BIN)/kaczmatch openapi > docs/openapi.json

$(ENVIRONMENT): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kaczmatch needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
