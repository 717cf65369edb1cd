# `make serve`, `make quick` and `make test` set up what they need in .venv: the service alone, or everything.

SHELL := bash
.SHELLFLAGS := -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin
SERVICE := .venv/.service
ENVIRONMENT := .venv/.installed
INSTALL := $(BIN)/pip install --disable-pip-version-check --progress-bar off -c constraints.txt -e
SHOWN := sed -u -n -e 's/^Collecting \([^ ]*\).*/  \1/p' -e 's/^Installing collected.*/  unpacking, for up to a minute/p'
PARALLEL := --numprocesses auto # tests/conftest.py says how many workers there are, and who gets what

# The tests start a hundred processes, which would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE
# There are more workers than cores: threads of linear algebra would wait for each other.
quick test mutants: export OPENBLAS_NUM_THREADS := 1
quick test mutants: export OMP_NUM_THREADS := 1

.PHONY: serve quick test mutants compiled check rooms sizes walk bench endure results migration docs pictures dist sbom licences release-check versions typescript clean

serve: $(SERVICE) # make serve PORT=9000
	@$(BIN)/kaczmatch serve --demo $(if $(PORT),--port $(PORT))

quick: check # what needs no server, browser, fault or patience: a minute or so, for while you work
	$(BIN)/pytest $(PARALLEL) -m "not (server or browser or faults or slow)" tests/unit tests/contract

test: $(SERVICE) # everything; kernels are compiled while the rest is installed and checked
	@$(MAKE) --no-print-directory --jobs 2 compiled check
	. tests/prepare.sh && $(BIN)/pytest $(PARALLEL) --durations=25 --durations-min=5

compiled: $(SERVICE)
	@PYTHONPATH=tests $(BIN)/python -W ignore tests/worlds/compiled.py

check: $(ENVIRONMENT)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

rooms: $(ENVIRONMENT) # which rooms import which
	$(BIN)/python docs/rooms.py

sizes: $(ENVIRONMENT) # lines and statements of each package
	$(BIN)/python docs/sizes.py

walk: $(ENVIRONMENT) # the functions and files that one swipe and one deck pass, and the picture of it
	$(BIN)/python docs/walk.py docs/images/walk.svg

bench: $(ENVIRONMENT)
	$(BIN)/python benchmarks/learners.py
	$(BIN)/python benchmarks/solvers.py
	$(BIN)/python benchmarks/decks.py
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/service.py
	$(BIN)/python benchmarks/million.py --people 10000,100000 --floors
	$(BIN)/python benchmarks/availability.py
	$(BIN)/python benchmarks/attacks.py

endure: $(ENVIRONMENT) # hours of kills, crashes, power cuts, broken disks and races; goes on where it was stopped
	. tests/prepare.sh && $(BIN)/python tests/endure.py

mutants: $(ENVIRONMENT) # which changes of the code no test notices; an hour, goes on where it was stopped. make mutants MUTANTS=50
	$(BIN)/python tests/mutants.py $(if $(MUTANTS),--mutants $(MUTANTS))

results: $(ENVIRONMENT) # the tables of the pages, from docs/results; docs/record.py writes those
	$(BIN)/python docs/render.py

migration: $(ENVIRONMENT) # make migration words="what changes"
	$(BIN)/python -m kaczmatch.storage.migrations $(words)

docs: $(ENVIRONMENT) # the site in site/, without any other host; the same commit gives the same bytes
	$(BIN)/kaczmatch openapi > docs/openapi.json
	$(BIN)/python docs/executed.py
	$(BIN)/python docs/site_pages.py
	NO_MKDOCS_2_WARNING=1 SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/mkdocs build --strict --clean

pictures: docs # the pictures of the pages, and of the site
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/screenshots.py

dist: $(ENVIRONMENT) # wheel and sdist; the same commit gives the same bytes
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m hatchling build

sbom: dist # what the service is made of, as CycloneDX: the wheel in an environment that has nothing else
	$(PYTHON) -m venv --clear --without-pip build/sbom/service
	$(BIN)/pip --python build/sbom/service/bin/python install --quiet --disable-pip-version-check -c constraints.txt \
	  "$$(ls -t dist/*.whl | head -n 1)[service,postgres]"
	rm build/sbom/service/lib/python3*/site-packages/kaczmatch-*.dist-info/direct_url.json # where the wheel lies on this machine
	$(PYTHON) -m venv --clear build/sbom/tool
	build/sbom/tool/bin/pip install --quiet --disable-pip-version-check -c constraints.txt 'cyclonedx-bom>=7' # for this alone
	build/sbom/tool/bin/cyclonedx-py environment --output-reproducible --output-file dist/sbom.json build/sbom/service/bin/python

licences: $(ENVIRONMENT) # docs/licences.md, from what is installed
	$(BIN)/python docs/licences.py

release-check: $(ENVIRONMENT) # what must be true before a release
	$(BIN)/python docs/release.py

typescript: $(SERVICE) # types and a small client in clients/typescript/build; needs node and npm
	$(BIN)/kaczmatch openapi > docs/openapi.json
	cd clients/typescript && npm install --no-package-lock --no-audit --no-fund && python3 generate.py && \
	  npx --no-install openapi-typescript ../../docs/openapi.json --output generated/schema.ts && npx --no-install tsc

versions: # the quick tests on every Python that is installed, 3.11 to 3.14, each in an environment of its own
	@for version in 3.11 3.12 3.13 3.14; do \
	  python$$version -c pass 2>/dev/null || { echo "no python$$version here"; continue; }; \
	  python$$version -m venv build/python$$version && \
	  build/python$$version/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' && \
	  build/python$$version/bin/pytest -q -m "not (server or browser or faults or slow)" tests/unit tests/contract || exit 1; \
	done

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kaczmatch needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up .venv"
	$(PYTHON) -m venv .venv

$(SERVICE): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing the service into .venv, once: about 0.6 GB"
	@$(INSTALL) '.[service]' | $(SHOWN)
	@touch $@

$(ENVIRONMENT): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing everything for tests, benchmarks and documentation into .venv, once: about two gigabytes"
	@$(INSTALL) '.[dev]' | $(SHOWN)
	@touch $@ $(SERVICE)

clean:
	rm -rf .venv build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
