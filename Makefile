# Mend. Thin: the work is done by CMake inside env/run, which finds or fetches an MPI with ULFM.
MAKEFLAGS += --no-print-directory
RUN := env/run
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
# tests get a folder for temporary files that is theirs alone and goes away with them
IN_SCRATCH := TMPDIR=$$(mktemp -d /tmp/mend-XXXXXX); export TMPDIR; trap 'rm -rf "$$TMPDIR"' EXIT;

all:
	@$(RUN) env/configure release build
	@$(RUN) cmake --build build -j $(JOBS)

check: all
	@$(IN_SCRATCH) $(RUN) ctest --test-dir build --output-on-failure -j $(JOBS) -LE campaign

campaign: all
	@$(IN_SCRATCH) $(RUN) ctest --test-dir build --output-on-failure -L campaign

bench: all
	@$(RUN) bench/run build bench/results.json

demo: all
	@$(RUN) tools/demo

install: all
	@$(RUN) cmake --install build --prefix $(PREFIX)

format:
	@git ls-files '*.c' '*.h' ':!*/fortran/*' | xargs clang-format -i

lint: all
	@$(RUN) ctest --test-dir build --output-on-failure -L lint

clean:
	rm -rf build build-debug build-asan build-tsan build-clang build-fuzz build-x86_64

help:
	@echo "make            build everything into build/"
	@echo "make demo       see an unmodified MPI program survive a kill"
	@echo "make check      all tests"
	@echo "make bench      speeds as ratios, into bench/results.json"
	@echo "make campaign   the long fault campaigns"
	@echo "make install    PREFIX=$(PREFIX)"
	@echo "make lint       clang-format, cppcheck, clang-tidy"
	@echo "make format, make clean"

.PHONY: all check campaign bench demo install format lint clean help
