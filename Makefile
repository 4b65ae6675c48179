# make demo and make test need Python >= 3.11 and nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= demo
UNIT ?= unit
PYTEST := $(BIN)/pytest -q -n auto --dist loadfile
COVERED := --cov=dlopt/problems --cov=dlopt/heuristics --cov=models
COVERING := dlopt tests/backends tests/formats tests/heuristics tests/models tests/problems tests/test_certificate_files.py

# What Python compiles is kept, whatever the environment says: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast bench prepared lint types arrows compiled collected unit covered search coverage falsify mutants baselines soak docs wheel clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:[^#]*## /\t/' | expand -t 12

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("dlopt needs Python 3.11 or newer") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)

# By a path and not by an import hook: with that, a script beside a checkout in a folder `dlopt` would find
# the folder in place of the package.
EDITABLE := --config-settings editable_mode=compat --editable

EXTRAS := '.[plot,sim,fast,dev,docs]'

# What the demonstration needs, and no more; the tests need all extras, in the same environment.
$(VENV)/ready-demo: pyproject.toml | $(VENV)/bin/python
	@echo "installing dlopt, its solvers and matplotlib into $(VENV), once:"
	@$(BIN)/python -m pip install --disable-pip-version-check $(EDITABLE) '.[plot]' > $(VENV)/pip.log 2>&1 & \
		pip=$$!; while kill -0 $$pip 2>/dev/null; do printf .; sleep 1; done; echo; \
		wait $$pip || { tail -n 5 $(VENV)/pip.log; exit 1; }
	@touch $@

# uv takes a third of the time of pip, or less. It does not read pip's configuration, of a mirror for example: where
# it does not find a package, pip installs them all. Only what is imported is compiled: to compile all that
# these packages have takes a third of the time.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
$(VENV)/ready: pyproject.toml | $(VENV)/bin/python
	{ $(PIP) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python $(EDITABLE) $(EXTRAS); } \
		|| $(PIP) $(EDITABLE) $(EXTRAS)
	touch $(VENV)/ready-demo $@

demo: $(VENV)/ready-demo ## solve, compare and draw shipped instances: three pictures and a page in demo/
	@mkdir -p $(OUT) && rm -f $(OUT)/records.jsonl
	@echo; echo "1 of 4: all methods for one divisible load on three nodes, against the proven optimum"
	@$(BIN)/dlopt compare instances/iit/three-nodes.json
	@echo; echo "2 of 4: the shortest schedule of a task graph on three machines, proven optimal"
	@$(BIN)/dlopt solve instances/dag/topcuoglu-10.json --plot $(OUT)/task-graph.svg
	@echo; echo "3 of 4: which tasks to accept, and which reservations; two pictures"
	@$(BIN)/dlopt solve instances/admission/between-grid-points.json --plot $(OUT)/admission.svg
	@$(BIN)/dlopt solve instances/coreservation/across-machines.json --method co-rspb --plot $(OUT)/reservations.svg
	@echo; echo "4 of 4: a batch of methods and instances, and a report of their gaps"
	@$(BIN)/dlopt batch instances/dag/topcuoglu-10.json instances/dag/chain.json instances/iit/three-nodes.json \
		instances/iit/four-nodes.json --time-limit 5 --out $(OUT)/records.jsonl
	@$(BIN)/dlopt report $(OUT)/records.jsonl --out $(OUT)/report.html
	@echo; echo "pictures: $(OUT)/task-graph.svg, $(OUT)/admission.svg, $(OUT)/reservations.svg"
	@echo "open this page in a browser: $(OUT)/report.html"
	@echo "for the command dlopt in this shell: . $(BIN)/activate"

test: prepared $(UNIT) ## everything that must hold; UNIT=covered measures coverage, too

test-fast: $(VENV)/ready ## while you work: lint, and all tests but the slow ones
	$(BIN)/ruff check .
	$(PYTEST) --fast

prepared: $(VENV)/ready # two at a time, since each of them uses one processor
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target compiled types collected lint arrows search

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready
	$(BIN)/mypy --strict -p dlopt

arrows: $(VENV)/ready
	$(BIN)/lint-imports

# The processes of the tests would all compile the same, each for itself: what numba compiles, and the
# modules of the tests.
compiled: $(VENV)/ready
	$(BIN)/pytest -q -m compiles $$(grep -rl 'mark\.compiles' --include='test_*.py' tests)

collected: $(VENV)/ready
	@$(BIN)/pytest -q --collect-only > $(VENV)/collected.log || { tail -n 40 $(VENV)/collected.log; exit 1; }
	@tail -n 1 $(VENV)/collected.log

unit: $(VENV)/ready
	$(PYTEST)

# Measuring coverage doubles the time of a test, so only the tests of what must be covered do it, but
# for the slowest, and nothing else is measured.
covered: $(VENV)/ready
	$(PYTEST) $(COVERED) --cov-report= --measure='$(COVERING)'
	$(BIN)/coverage report --include='dlopt/problems/*,dlopt/heuristics/*,models/*' --fail-under=99

coverage: $(VENV)/ready ## what all tests together do not run
	$(PYTEST) --cov --cov-report=
	$(BIN)/coverage report

falsify: $(VENV)/ready ## the properties with many more examples; searches that must break what is flawed, and nothing else
	HYPOTHESIS_PROFILE=heavy $(BIN)/pytest -q -m property
	$(BIN)/python -m benchmarks.falsify
	$(BIN)/python -m benchmarks.falsify --claims
	@mkdir -p $(OUT)
	$(BIN)/python -m benchmarks.falsify --sound --seconds $(or $(SECONDS),60) --shard $(or $(SHARD),1/1) \
		--rows $(OUT)/searched-$(subst /,-of-,$(or $(SHARD),1/1)).jsonl

mutants: $(VENV)/ready ## every listed change that makes the code wrong: some test must fail then
	$(BIN)/python -m tests.mutants --jobs $(or $(JOBS),2)

search: $(VENV)/ready ## a short search: some flaws found again, nothing found of what is sound
	$(BIN)/python -m benchmarks.falsify --short

bench: $(VENV)/ready ## speed and scale; minutes
	$(BIN)/python -m benchmarks.iit
	$(BIN)/python -m benchmarks.admission

soak: $(VENV)/ready ## the service: KILLS of a server under load and with jobs, then CASES of generated requests for each operation
	$(BIN)/python -m benchmarks.soak --kills $(or $(KILLS),200) --job-kills $(or $(KILLS),200) \
		--cases $(or $(CASES),300) --seconds $(or $(SECONDS),600)

baselines: $(VENV)/ready ## what is proven of the shipped instances: instances/BASELINES.csv
	@mkdir -p $(OUT) && rm -f $(OUT)/baselines.jsonl
	$(BIN)/dlopt batch instances --methods exact --objective all --time-limit 60 --out $(OUT)/baselines.jsonl
	$(BIN)/dlopt report $(OUT)/baselines.jsonl -o instances/BASELINES.csv

docs: $(VENV)/ready ## the documentation site: build/site/index.html, readable without a network
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -c docs -d build/doctrees . build/site

wheel: $(VENV)/ready ## sdist and wheel in dist/, tried in a clean environment outside the checkout
	BIN=$(BIN) PYTHON=$(PYTHON) sh .ci/wheel

clean: ## all that was made
	rm -rf $(VENV) build dist demo *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
