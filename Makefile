# Mend. Thin: the work is done by CMake inside env/run, which finds or fetches an MPI with ULFM.
MAKEFLAGS += --no-print-directory
RUN := env/run
JOBS ?= $(shell nproc)
# tests count half cores (cmake/MendTest.cmake), with one to spare: most wait for something most of the time
HALVES := $(shell echo $$((2 * $(JOBS) + 1)))
PREFIX ?= /usr/local
# tests get a folder for temporary files that is theirs alone and goes away with them; files that a umask of 002 lets
# the group write to are refused as images, and tests make such files by hand
IN_SCRATCH := umask 022; TMPDIR=$$(mktemp -d /tmp/mend-XXXXXX); export TMPDIR; trap 'rm -rf "$$TMPDIR"' EXIT;

all:
	@$(RUN) env/configure release build
	@$(RUN) cmake --build build -j $(JOBS)

check: all
	@$(IN_SCRATCH) $(RUN) ctest --test-dir build --output-on-failure -j $(HALVES) -LE campaign

# one test of every kind, kills included: for whoever changes something
check-quick: all
	@$(IN_SCRATCH) $(RUN) ctest --test-dir build --output-on-failure -j $(HALVES) -L quick

# HOURS=h: trials by seed for so long (SEED=n: from that one on; JOBS=n: so many at a time); COUNTS="LAYER=N …" or
# COUNTS=promised: exact numbers instead (LIMIT=s: a trial that takes longer has hung; OUT=dir: results); neither: every long test once
campaign: all
ifneq ($(HOURS)$(COUNTS),)
ifndef COUNTS
	@tests/harness/inner-build fuzz build-fuzz || true # without clang the fuzzers are left out
endif
	@$(IN_SCRATCH) $(RUN) tests/campaign/run $(if $(filter command,$(origin JOBS)),--jobs $(JOBS)) $(if $(COUNTS),--counts "$(COUNTS)") \
		$(if $(LIMIT),--limit $(LIMIT)) $(if $(OUT),--out $(OUT)) $(or $(HOURS),1) $(SEED)
else
	@$(IN_SCRATCH) $(RUN) ctest --test-dir build --output-on-failure -L campaign
endif

# PARTS="capsule_calls store_1 …": some of it (bench/run build --list names the parts); the results of the others stay
bench: all
	@$(RUN) bench/run build bench/results.json $(PARTS)

# how times grow with ranks: make bench-scale [RANKS="2 4 8"]
bench-scale: all
	@$(RUN) bench/scale/run build bench/scale/results $(RANKS)

# what mend run costs real programs when nothing fails: a minute or more for each of six runs of each program
bench-real: all
	@$(RUN) bench/real/run build bench/real/results.json $(PROGRAMS)

demo:
	@$(RUN) env/configure release build
	@$(RUN) cmake build >/dev/null # a folder of an older clone does not know the target yet
	@$(RUN) cmake --build build -j $(JOBS) --target demo-programs
	@$(RUN) tools/demo

install: all
	@$(RUN) cmake --install build --prefix $(PREFIX)

VERSION = $(shell sed -n 's/^\#define MEND_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' include/mend/version.h | paste -sd.)
# what is committed, as one file; the packages are made of it
dist:
	@mkdir -p build
	@git archive --format=tar.gz --prefix=mend-$(VERSION)/ -o build/mend-$(VERSION).tar.gz HEAD
	@echo build/mend-$(VERSION).tar.gz

# the guide, the manual pages and the headers as HTML, to be read without a network
site:
	@mkdir -p build
	@python3 -B docs/site/build.py build/site

format:
	@git ls-files '*.c' '*.h' ':!*/fortran/*' | xargs env/tools --lint clang-format -i

lint: all
	@$(RUN) ctest --test-dir build --output-on-failure -L lint -LE campaign

clean:
	rm -rf build build-debug build-asan build-tsan build-clang build-fuzz build-x86_64 build-aarch64

help:
	@echo "make            build everything into build/"
	@echo "make demo       see an unmodified MPI program survive a kill"
	@echo "make check      all tests"
	@echo "make check-quick  one test of every kind, in minutes"
	@echo "make bench      speeds as ratios, into bench/results.json [PARTS="…"]"
	@echo "make bench-scale  how times grow with ranks: curves, into bench/scale/results"
	@echo "make bench-real   what mend run costs heat, LAMMPS and GROMACS, into bench/real/results.json"
	@echo "make campaign   the long fault campaigns; HOURS=2: trials by seed for so long; COUNTS=promised: exact numbers"
	@echo "make install    PREFIX=$(PREFIX)"
	@echo "make dist       the source as one file, into build/"
	@echo "make site       the guide, manual pages and API reference as HTML, into build/site"
	@echo "make lint       clang-format, cppcheck, clang-tidy"
	@echo "make format, make clean"

.PHONY: all check check-quick campaign bench bench-scale bench-real demo install dist site format lint clean help
