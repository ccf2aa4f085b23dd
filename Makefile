# `make lab` opens the course, `make test` proves it. Each sets up `.venv` first, once.
PYTHON ?= python3
VENV := .venv
# On Windows (Git Bash with make) a virtual environment keeps its programs elsewhere.
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
# PyTorch's own index of CPU builds. Where it cannot be reached, pip warns and takes the registry's build.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
LAB_FLAGS ?=
DEBIAN ?= trixie
ENVIRONMENT = -I course_utils/tools/environment.py
# `stale` if .venv was complete once and cannot be used any more: this folder was moved, or its Python is gone.
STALE := $(if $(wildcard $(VENV)/.ready),$(shell $(BIN)/python -S $(ENVIRONMENT) check >/dev/null 2>&1 || echo stale))
WRONG_PYTHON = "This course needs Python 3.11 to 3.14; %s is %s. Try: make PYTHON=python3.12 $(or $(MAKECMDGOALS),lab)" % (sys.executable, sys.version.split()[0])
PYTHON_THAT_RUNS = $(shell $(BIN)/python -c "" 2>/dev/null && echo $(BIN)/python || echo $(PYTHON))
# A person sees pip's progress bars; a log does without them.
PIP = $(BIN)/python -m pip install $(if $(CI),--quiet)
CANARY = build/canary
CANARY_PYTHON = $(CANARY)/$(notdir $(BIN))/python

.PHONY: stale help setup lab test format nightly slow sabotage shake verdicts lesson matrix encoders lock notebooks adapter tables bench book screenshots dist canary bare arm doctor clean

help:
	@echo "make lab        open the lessons in JupyterLab      (make lab LAB_FLAGS='--no-browser --port 9999')"
	@echo "make test       run the linters, the tests and all lessons: eleven minutes"
	@echo "make format     format all code: modules and tests at 100 columns, cells of notebooks at 88"
	@echo "make nightly    what is too slow for make test: make slow, make sabotage (do the tests notice?), make shake, make verdicts"
	@echo "make shake      the lessons on arithmetic that differs in the last place (make shake SEED=7; else the day's seed)"
	@echo "make verdicts   would another seed, half or depth turn what the lessons conclude? (make verdicts L=04)"
	@echo "make matrix     the lessons under other instruction sets and thread counts; the odd notebooks in real kernels"
	@echo "make encoders   the lessons with other encoders: random ones of six families (two hours)"
	@echo "make doctor     check this machine"
	@echo "make setup      make .venv, which the others do by themselves; make clean removes it"
	@echo "make lesson     execute one lesson, renew what derives from it, and run its tests: make lesson L=04"
	@echo "make notebooks  run the source lessons from top to bottom and store their outputs"
	@echo "make adapter    train the masked-language-model adapter of lesson 07 again (an hour or more)"
	@echo "make tables     repeat the stored trainings of lessons 10 to 13 (hours)"
	@echo "make bench      measure embed against Sentence Transformers, the grader against nbgrader, and renew their tables"
	@echo "make book       write all lessons as a static site and a PDF, to build/book"
	@echo "make screenshots  take the pictures of the READMEs again, with Chromium (a quarter of an hour)"
	@echo "make dist       write the wheel and the source archive to build/dist"
	@echo "make canary     run the lessons on the newest versions of everything, in build/canary: what will break next"
	@echo "make bare       run make lab and make test in a bare Debian with its Python, as root: make bare DEBIAN=sid"
	@echo "make arm        compare lessons 00, 02 and 04 on an emulated ARM processor, as root (make arm L='00 02 04')"
	@echo "make lock       resolve requirements.lock and the grader's lock again"

setup: $(VENV)/.ready

# An environment with a Python and a pip stays, and an interrupted set-up is continued.
$(VENV)/.ready: requirements.lock pyproject.toml $(STALE)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
		$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 14) else $(WRONG_PYTHON))' && \
		$(PYTHON) $(ENVIRONMENT) make; }
	@$(BIN)/python $(ENVIRONMENT) begin
	$(PIP) --no-deps --retries 2 --extra-index-url $(TORCH_INDEX) "$$(grep '^torch==' requirements.lock)"
	$(PIP) -r requirements.lock
	$(PIP) --quiet --no-deps --no-build-isolation -e .
	@$(BIN)/python $(ENVIRONMENT) finish
	@touch $@

lab: setup
	$(BIN)/course lab $(LAB_FLAGS)

test: setup $(VENV)/grading/.ready $(VENV)/share/explorers/.ready
	$(BIN)/python -m tests.run

format: setup
	$(BIN)/python -m tests.formatting

# Too slow for `make test`. Hosted CI runs the four in jobs beside it, on each pull request.
nightly: slow sabotage shake verdicts

slow: setup $(VENV)/grading/.ready $(VENV)/share/explorers/.ready
	$(BIN)/python -m tests.run --nightly

sabotage: setup $(VENV)/grading/.ready $(VENV)/share/explorers/.ready
	$(BIN)/python -m tests.sabotage

shake: setup
	$(BIN)/python -m tests.shake $(or $(SEED),today)

verdicts: setup
	$(BIN)/python -W ignore -m tests.verdicts $(L)

# nbgrader, for the tests of the grader: beside the packages of the course, since nbgrader would put its menus into JupyterLab.
$(VENV)/grading/.ready: tests/grading.lock | setup
	$(PIP) --no-deps --upgrade --target $(VENV)/grading -r tests/grading.lock
	@touch $@

# The explorers' packages from npm, fetched while there is a network, which the tests block. They are no part of the lock
# of Python: where npm or its registry cannot be reached, one sentence says so, and the next run tries again.
$(VENV)/share/explorers/.ready: course_utils/explore/page/package-lock.json | setup
	@NPM_CONFIG_FETCH_RETRIES=0 $(BIN)/python -m course_utils.tools.publish.explorers && touch $@ || true

matrix: setup $(VENV)/grading/.ready
	$(BIN)/python -m tests.matrix
	$(BIN)/python -m pytest -q -m "" tests/grading/test_odd_kernel.py

encoders: setup
	$(BIN)/python -W ignore -m tests.encoders $(if $(L),--lesson $(L)_)

# Without set-up, on purpose: it says why a set-up failed, by any Python from 3.8 on.
doctor:
	@$(PYTHON_THAT_RUNS) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 8) else $(WRONG_PYTHON))'
	@$(PYTHON_THAT_RUNS) -m course_utils.tools.doctor

tables: setup
	$(BIN)/python -m course_utils.trainings.learning_curve
	$(BIN)/python -m course_utils.trainings.depth
	$(BIN)/python -m course_utils.trainings.pairs
	$(BIN)/python -m course_utils.trainings.negation
	$(BIN)/python -m course_utils.trainings.losses
	$(BIN)/python -m course_utils.trainings.questions
	$(BIN)/python -m course_utils.trainings.search
	$(BIN)/python -m course_utils.trainings.rerank
	$(BIN)/python -m course_utils.trainings.matryoshka
	$(BIN)/python -m course_utils.trainings.growth

# One lesson, after a change to it: make lesson L=04
lesson: setup
	@test -n "$(L)" || (echo "Which one? make lesson L=04"; exit 1)
	$(BIN)/python -m tests.lesson $(L)

notebooks: setup
	$(BIN)/python -m tests.execute

lock: setup
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --extra test --extra parses --no-header --upgrade -o requirements.lock pyproject.toml
	$(BIN)/uv pip compile --universal --python-version 3.11 --extra nbgrader --no-header --no-annotate --upgrade -c requirements.lock pyproject.toml | awk -F== 'NR == FNR {had[$$1]; next} !($$1 in had)' requirements.lock - > tests/grading.tmp
	mv tests/grading.tmp tests/grading.lock

# Trains the course's masked-language-model adapter again: an hour or more, see course_utils/trainings/adapter.md.
# Large memory pages, where Linux has them, save a quarter of the time.
adapter: setup
	$(PIP) -c requirements.lock -e ".[adapter]"
	THP_MEM_ALLOC_ENABLE=1 $(BIN)/python -m course_utils.trainings.adapter

# Three quarters of an hour; leave the machine alone meanwhile.
bench: setup $(VENV)/grading/.ready
	$(BIN)/python -W ignore -m tests.benchmarks.speed
	$(BIN)/python -W ignore -m tests.benchmarks.grading

book: setup
	$(BIN)/course book

screenshots: setup
	$(BIN)/python -m tests.screenshots

dist: setup
	rm -rf build/dist
	mkdir -p build/dist
	$(BIN)/python -c "import hatchling.build as b; b.build_sdist('build/dist'); b.build_wheel('build/dist')"

# The newest versions of everything in place of the lock's, in an environment of its own.
# pip freeze keeps underscores in names, and says of PyTorch which build it is; the lock does neither
canary:
	$(PYTHON) -m venv --clear $(CANARY)
	$(CANARY_PYTHON) -m pip install $(if $(CI),--quiet) --upgrade pip
	$(CANARY_PYTHON) -m pip install $(if $(CI),--quiet) --extra-index-url $(TORCH_INDEX) "hatchling>=1.33" $$($(CANARY_PYTHON) -m tests.canary)
	$(CANARY_PYTHON) -m pip install --quiet --no-deps --no-build-isolation -e .
	$(CANARY_PYTHON) -m pip freeze --exclude-editable > $(CANARY)/versions.txt
	@echo "Not the versions of requirements.lock:"
	@tr _ - < $(CANARY)/versions.txt | sed 's/+cpu$$//' | grep -vixF "$$(sed 's/ ;.*//' requirements.lock)" || true
	OMP_NUM_THREADS=1 $(CANARY_PYTHON) -m pytest -q -n 2 --dist loadscope notebooks

# As root, since it unpacks a system and enters it; so is build/bare root's.
bare:
	$(if $(filter-out 0,$(shell id -u)),sudo --preserve-env )bash tests/bare_debian.sh $(DEBIAN)

# As root, too, for debootstrap. Hours, most of them the first time's.
arm: setup
	$(if $(filter-out 0,$(shell id -u)),sudo --preserve-env )env TORCH_INDEX=$(TORCH_INDEX) bash tests/arm_debian.sh $(or $(L),00 02 04)

clean:
	rm -rf $(VENV) build
