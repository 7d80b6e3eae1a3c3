# What there is to do with this repository; `make help` lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Gluon changes between versions of Triton: the oldest one that is supported stands beside the usual.
OLDEST := 3.6.0
OLD := .venv-triton-$(OLDEST)
OLD_STAMP := $(OLD)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-full test-oldest filecheck fuzz mutate coverage lint types docs pages goldens bench accuracy clean

help: ## Say what there is to do
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch triton numpy
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[run,tune,ray,certify,editor,pages,dev]'
	# Tools that lit starts write no bytecode: each of them would compile the package anew.
	$(BIN)/python -m compileall -q dt_mlir
	touch $(STAMP)

# Everything but Triton is that of the usual environment.
$(OLD_STAMP): $(STAMP) Makefile
	test -x $(OLD)/bin/python || $(BIN)/python -m venv $(OLD)
	$(OLD)/bin/python -m pip install --quiet --disable-pip-version-check triton==$(OLDEST)
	$(OLD)/bin/python -c "import site, sysconfig; \
	  print('import site; site.addsitedir(%r)' % '$(abspath $(VENV))/lib/python%s/site-packages' % sysconfig.get_python_version())" \
	  > $$($(OLD)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/others.pth
	touch $(OLD_STAMP)

demo: $(STAMP) ## Compile an example, run it (on a GPU, or else on the CPU) and compare with PyTorch
	$(BIN)/python examples/demo.py

test: $(STAMP) ## Run the quick tests: every pass and example once
	$(BIN)/python tests/explorer/browser.py
	$(BIN)/lit -q tests/filecheck examples/plugin/tests
	$(BIN)/pytest -n auto

test-full: $(STAMP) ## Run all tests: all sizes and targets, drawn programs, searches
	$(BIN)/python tests/explorer/browser.py
	$(BIN)/lit -q tests/filecheck examples/plugin/tests
	$(BIN)/pytest -n auto --full

test-oldest: $(OLD_STAMP) ## Compile the specialized kernels ahead of time with the oldest Triton that is supported
	$(OLD)/bin/python -c "import triton; assert triton.__version__ == '$(OLDEST)', triton.__version__"
	$(OLD)/bin/python -m pytest -n auto tests/warp -k "machine_code or test_a_product"

filecheck: $(STAMP) ## Run the tests on textual IR alone
	$(BIN)/lit -v tests/filecheck examples/plugin/tests

CASES ?= 2000
fuzz: $(STAMP) ## Draw programs, run them and compare them with their algorithms (CASES=2000)
	$(BIN)/python tests/fuzz/fuzz.py --cases $(CASES)

mutate: $(STAMP) ## Seed faults into the compiler one at a time, and say which tests notice (takes hours on 2 cores)
	$(BIN)/python tests/mutation/mutate.py

coverage: $(STAMP) ## Measure which lines and branches the tests reach, in processes that they start too
	$(BIN)/python tests/measure_coverage.py

lint: $(STAMP) ## Check style (ruff)
	$(BIN)/ruff check .

types: $(STAMP) ## Check types (pyright, strict)
	$(BIN)/pyright

docs: $(STAMP) ## Write the reference pages of dialects, passes and directives anew
	$(BIN)/python docs/generate.py

pages: $(STAMP) ## Take the screenshots of docs/explorer.md anew, and run the example notebook
	$(BIN)/python docs/screenshots.py
	$(BIN)/python docs/notebook.py

goldens: $(STAMP) ## Write the expected kernels of the golden tests anew
	$(BIN)/python tests/unit/test_goldens.py --write

bench: $(STAMP) ## Time the compiler against xdsl-opt, and on a GPU the kernels; PART=540 ends after so many seconds
	$(BIN)/python benchmarks/compile_time.py
	$(BIN)/python benchmarks/evaluate.py --gpus all $(if $(PART),--seconds $(PART))
	$(BIN)/python benchmarks/tables.py

accuracy: $(STAMP) ## Measure the errors of elementwise functions (on a GPU, if there is one)
	$(BIN)/python benchmarks/accuracy.py

clean: ## Remove what was built
	rm -rf $(VENV) $(OLD) build dist .pytest_cache .ruff_cache
