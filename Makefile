# The commands that people and CI use. `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
COMPILE := uv pip compile
LOCKED := --no-config --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock"
LOCK := $(COMPILE) pyproject.toml $(LOCKED) --extra postgres --group build
# What makes Python clients of the simulator's description; its requirements do not go with the product's.
GENERATOR := tests/sandbox_partner/generated/python

# Three processes, though the smallest machine has two cores: some tests wait. Those of a file stay together, with what
# they started.
# The order of the files is ours: tests/conftest.py says why.
WORKERS := -n 3 --dist loadfile --no-loadscope-reorder
# Where seconds are promised, one process for each core.
ONE_EACH := -n 2 --dist loadfile
# pytest's exit code where PYTEST_ARGS leave no timed test.
NONE_CHOSEN := 5
LINTED := build/lint.log

.PHONY: help setup demo test soak mutants branches image lint format bench ranker english docs sbom lock clean

help:  ## list these commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

setup:  ## .venv with the locked dependencies and the `countersign` command
	@$(PYTHON) .ci/setup.py run

demo: setup  ## the whole product on this machine, no account anywhere
	@exec $(BIN)/countersign demo

# The linters use the time in which tests wait. What they say stands behind the tests.
# Python keeps what it has compiled of the tests, wherever the environment says it should not: a third of the start.
test: export PYTHONDONTWRITEBYTECODE =
test:  ## everything: lint, types, import contracts, tests
	@$(PYTHON) .ci/setup.py test
	@mkdir -p build
	@nice $(MAKE) --no-print-directory lint > $(LINTED) 2>&1 & lint=$$!; \
	$(BIN)/python -m pytest $(WORKERS) -m "not timed" $(PYTEST_ARGS); tests=$$?; \
	wait $$lint; linted=$$?; cat $(LINTED); exit $$(( tests > linted ? tests : linted ))
	$(BIN)/python -m pytest $(ONE_EACH) -m timed $(PYTEST_ARGS) || [ $$? = $(NONE_CHOSEN) ]

soak:  ## an hour of the long programmes: goes on where it ended, says what is proved (SOAK="--minutes 20 --only thief")
	@$(PYTHON) .ci/setup.py test
	$(BIN)/python -m tests.soak $(SOAK)

mutants:  ## change the core in every small way, and see that a test notices (MUTANTS="--module vault": some; goes on)
	@$(PYTHON) .ci/setup.py test
	nice $(BIN)/python -m tests.mutants $(MUTANTS)

branches:  ## name each branch of the core's code that no test takes, and that is not listed (BRANCHES=tests/unit: by these tests)
	@$(PYTHON) .ci/setup.py test
	nice $(BIN)/python -m tests.branches $(BRANCHES)

image:  ## build the container image and run it (as root, with buildah and debootstrap from apt)
	@$(PYTHON) .ci/setup.py test
	SOAK=1 $(BIN)/python -m pytest -m soak --timeout=0 tests/soak/test_image.py $(PYTEST_ARGS)

lint:  ## formatter, linter, types, import contracts, weak spots of security, and no secret in the files
	@$(PYTHON) .ci/setup.py test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --configfile pyproject.toml --severity-level medium --recursive bot handlers storage sandbox
	$(BIN)/python .ci/find_secrets.py

format:  ## rewrite the code the way lint wants it
	@$(PYTHON) .ci/setup.py test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench:  ## run benchmarks/ and write benchmarks/RESULTS.md
	@$(PYTHON) .ci/setup.py test
	$(BIN)/python -m benchmarks

ranker:  ## train the ranker of plain English again: bot/intents/ranking/weights.json
	@$(PYTHON) .ci/setup.py test
	$(BIN)/python -m benchmarks.english.train_ranker

english:  ## how well plain English is read, by author, into docs/conversation.md (AUTHORS=folder: another folder, printed)
	@$(PYTHON) .ci/setup.py test
	$(BIN)/python -m benchmarks.english $(AUTHORS)

docs:  ## write again what the docs take from the code: commands, settings, states, operations, answers, messages
	@$(PYTHON) .ci/setup.py run
	$(BIN)/python docs/generate.py
	PYTHONPATH=. $(BIN)/python docs/messages.py

sbom:  ## list what is installed in production, by CycloneDX, in build/sbom.cdx.json
	@mkdir -p build
	$(PYTHON) .ci/sbom.py requirements.txt > build/sbom.cdx.json

lock:  ## resolve requirements*.txt again from pyproject.toml (needs uv)
	$(LOCK) --upgrade --output-file requirements.txt
	$(LOCK) --upgrade --extra otel --extra dev --constraint requirements.txt --output-file requirements-dev.txt
	cd $(GENERATOR) && $(COMPILE) requirements.in $(LOCKED) --upgrade --output-file requirements.txt

clean:  ## remove what the commands above made, demo state included
	rm -rf .venv var build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
