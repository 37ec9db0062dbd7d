# Every target sets up what it needs: `make demo` and `make test` work from a clean clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.ready-dev
PEERS := .venv-peers
PEERS_INSTALL := $(PEERS)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt
PEERS_READY := $(PEERS)/.ready
DOCS := .venv-docs
DOCS_INSTALL := $(DOCS)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt
DOCS_READY := $(DOCS)/.ready
COMPAT := .venv-compat
COMPAT_INSTALL := $(COMPAT)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt
COMPAT_READY := $(COMPAT)/.ready
FUZZ := .venv-fuzz
FUZZ_INSTALL := $(FUZZ)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt
FUZZ_READY := $(FUZZ)/.ready

.PHONY: demo test lint docs dist bench bench-all bench-peers attack fuzz peers compat compat-bench compat-env clean

demo: $(READY)
	$(BIN)/smartcl demo

test: lint
	OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(DEV_READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The documentation, in site/: a warning is an error. The package is read, not run, so nothing else is installed. Where
# Chromium is installed, make test looks at every page of it.
docs: $(DOCS_READY)
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict

# The wheel and the source archive, in dist/, with what a package index would refuse.
dist: $(DOCS_READY)
	rm -rf dist
	$(DOCS)/bin/python -m build --quiet --outdir dist .
	$(DOCS)/bin/twine check --strict dist/*

$(DOCS_READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS_INSTALL) mkdocs-material 'mkdocstrings[python]' ruff build twine
	touch $@

bench: $(DEV_READY)
	$(BIN)/python -m benchmarks

# All figures of benchmarks/results.json on one state: more than an hour.
bench-all: $(DEV_READY) $(COMPAT_READY)
	$(BIN)/python -m benchmarks all
	$(COMPAT)/bin/python -m benchmarks peers avalanche_replay

# Looks for faults with fresh seeds for MINUTES: ends with an error and a list of them if there are any.
MINUTES ?= 10
attack: $(DEV_READY)
	$(BIN)/python -m benchmarks attack --minutes $(MINUTES)

# Fuzzes the readers, loading, the row code, the service's bodies and journal, and merging, under coverage: MINUTES of
# processor time each. Inputs that break something are in fuzz-faults/.
fuzz: $(FUZZ_READY)
	$(FUZZ)/bin/python -m benchmarks.attack.fuzz --minutes $(MINUTES)

$(FUZZ_READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(FUZZ)
	$(FUZZ_INSTALL) torch==2.13.0
	$(FUZZ_INSTALL) -e '.[parquet,serve,zstd]' 'atheris>=2.3'
	touch $@

# Rows per second and accuracy beside Avalanche, River and scikit-learn, in the environment that has them.
bench-peers: $(COMPAT_READY)
	$(COMPAT)/bin/python -m benchmarks peers

# What smart is compared with, in an environment of its own, and the streams it is compared on.
peers: $(PEERS_READY)
	$(PEERS)/bin/python -m smartcl.paper.peers.suite

$(PEERS_READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS_INSTALL) torch==2.13.0
	$(PEERS_INSTALL) -e '.[parquet]' river pandas sortedcontainers tqdm pytest
	$(PEERS_INSTALL) vowpalwabbit || echo 'vowpalwabbit cannot be had here: its rows stay empty'
	$(PEERS_INSTALL) --no-deps deep-river torchviz graphviz || echo 'deep-river cannot be had here: its row stays empty'
	touch $@

# What smartcl.compat is for, in an environment of its own: Avalanche, Lightning, River, and our tests with them.
compat: compat-env
	OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(COMPAT)/bin/python -m pytest -o filterwarnings=default \
		tests/compat --doctest-modules src/smartcl/compat

compat-bench: compat-env
	$(COMPAT)/bin/python -m benchmarks avalanche_replay

compat-env: $(COMPAT_READY)

# torchvision's wheel is built for another build of torch: its compiled operators, which two of its modules describe, are
# left out, and so are those modules. Nothing here uses them.
$(COMPAT_READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(COMPAT)
	$(COMPAT_INSTALL) torch==2.13.0
	$(COMPAT_INSTALL) --no-deps avalanche-lib torchvision
	$(COMPAT_INSTALL) dill gdown gputil matplotlib piqp psutil pytorchcv qpsolvers tensorboard torchmetrics tqdm wandb
	$(COMPAT_INSTALL) -e . lightning river pandas pytest pytest-xdist hypothesis
	sed -i '/^ *_autograd_registrations,$$/d; /^ *_meta_registrations,$$/d' \
		$(COMPAT)/lib/python3*/site-packages/torchvision/__init__.py
	touch $@

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("smartcl needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) torch==2.13.0
	$(INSTALL) -e '.[paper]'
	touch $@

$(DEV_READY): $(READY)
	$(INSTALL) -e '.[dev,kafka,mlflow,onnx,paper,parquet,ray,redis,serve,zstd]'
	touch $@

clean:
	rm -rf $(VENV) $(PEERS) $(COMPAT) $(DOCS) $(FUZZ) fuzz-faults dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
