# Everything works on a fresh machine with Python 3.11 or newer, pip and make. PYTHON and VENV may be overridden.
PYTHON ?= python3
VENV ?= .venv
RAY ?= .venv-ray
TRL_PPO ?= .venv-trl-ppo
FAULTS ?= benchmarks/faults/runs
BIN := $(VENV)/bin
# Quiet installs: what matters is whether they work.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
NEEDS := pyproject.toml constraints-dev.txt

.PHONY: demo test test-full test-ray test-trl-ppo corpus corpus-faults results bench bench-faults bench-faults-record docs docs-check update-listing format clean

demo: $(VENV)/stamp-core  ## diagnose a broken run that comes with firstbreak
	$(BIN)/firstbreak demo

test: $(VENV)/stamp-dev  ## everything that needs no training: style, types, docs, tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m tools.build_docs --check
	$(BIN)/pytest -m "not full" --ignore=tests/e2e -n 2 --dist loadfile

test-full: $(VENV)/stamp-full  ## short real trainings
	$(BIN)/pytest -m full -n 2 --dist loadfile

test-ray: $(RAY)/stamp  ## RLlib, in an environment of its own: Ray wants an older Gymnasium
	$(RAY)/bin/pytest tests/ray

test-trl-ppo: $(TRL_PPO)/stamp  ## TRL's PPO, in an environment of its own: TRL has it up to 1.12
	OMP_NUM_THREADS=1 $(TRL_PPO)/bin/pytest tests/trl_ppo

corpus: $(VENV)/stamp-dev  ## the labelled real runs, each answer shown
	$(BIN)/pytest tests/corpus -rA -m "not full"

results: $(VENV)/stamp-dev  ## write the README's demo and the results in docs/figures.md anew
	$(BIN)/python tools/results.py

bench: $(VENV)/stamp-dev  ## speed against the budgets of docs/design.md
	for script in benchmarks/speed/*.py; do echo "== $$script"; PYTHONPATH=. $(BIN)/python $$script || exit 1; done

bench-faults: $(VENV)/stamp-dev  ## score the recorded runs of the fault benchmark; writes docs/faults_results.md
	$(BIN)/python benchmarks/faults/score.py --half held --jobs 2 --folder $(FAULTS) --page docs/faults_results.md \
		--headline docs/figures.md

corpus-faults: $(VENV)/stamp-dev  ## fail where a score of the fault benchmark has fallen by more than its interval
	$(BIN)/python benchmarks/faults/score.py --half held --jobs 2 --folder $(FAULTS) --gate

bench-faults-record: $(VENV)/stamp-full  ## record them: hours; it can be stopped and taken up again
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/faults/record.py --folder $(FAULTS) --jobs 2

docs: $(VENV)/stamp-dev  ## the pages made from the code, into site/ and docs/
	$(BIN)/python -m tools.build_docs

docs-check: $(VENV)/stamp-dev  ## fail on an unknown name or an outdated page
	$(BIN)/python -m tools.build_docs --check

update-listing: $(VENV)/stamp-dev  ## write the reviewed snapshots of the rules anew; read the difference
	$(BIN)/python -m tests.rules.snapshots
	git --no-pager diff --stat -- tests/rules || true

format: $(VENV)/stamp-dev  ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(RAY) $(TRL_PPO) site dist build .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "firstbreak needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/stamp-core: $(NEEDS) | $(BIN)/python
	$(PIP) -c constraints-dev.txt -e .
	touch $@

$(VENV)/stamp-dev: $(NEEDS) | $(BIN)/python
	$(PIP) -c constraints-dev.txt -e '.[dev]'
	touch $@ $(VENV)/stamp-core

$(VENV)/stamp-full: $(NEEDS) | $(BIN)/python
	$(PIP) -c constraints-dev.txt -e '.[dev,full]'
	touch $@ $(VENV)/stamp-dev $(VENV)/stamp-core

$(RAY)/stamp: pyproject.toml
	$(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip --disable-pip-version-check --quiet install torch==2.13.0 'ray[rllib]==2.60.0' pytest hypothesis -e .
	touch $@

$(TRL_PPO)/stamp: pyproject.toml
	$(PYTHON) -m venv $(TRL_PPO)
	$(TRL_PPO)/bin/python -m pip --disable-pip-version-check --quiet install torch==2.13.0 trl==1.12.0 transformers==5.23.0 pytest hypothesis -e .
	touch $@
