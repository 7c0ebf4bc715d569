# make            build bin/jitinject and bin/perf-jitinject; VERSION=1.2.3 for another one than script/version's
# make agent      build bin/libjitinject-jvmti.so, the agent for Java (gcc, a JDK's headers)
# make demo       record a real program, inject, show the result
# make check      install what the tests need, then lint, test, and look for races
# make interop    what takes longer: other perfs, more objects, fuzzing, packages: some 80 minutes; PARTS='tests fuzz'
# make bench      compare with perf inject, in the same run; BENCH='-disk DIR -only erlang ...'
# make runtimes   install runtimes of npm and Debian, record and judge them, into docs; RUNTIMES='node@26 php@8.4/sid'
# make record     record programs of each runtime with jitinject record and perf record, into docs; RECORD='-rows node'
# make sessions   run the sessions that the documentation shows, and paste what they print; SESSIONS='-only WORD FILE.md ...'
# make race       short tests of packages with goroutines or locks under Go's race detector (gcc): minutes
# make fuzz       fuzz each target for FUZZTIME: a number of inputs, 1000000x, or a time, 5m
# make lint       gofmt, go vet, staticcheck
# make man        manual pages into build/man, completions for shells into build/completions
# make install    all of that and jitdump.h into DESTDIR/PREFIX; install-header only jitdump.h; install-agent
#                 adds the agent; uninstall removes all
# make packages   .deb and .rpm for amd64 and arm64 into build/packages
# make release    the files of a release into build/release; VERSION=0.1.0 must be in CHANGELOG.md
# make copyright  write packaging/copyright anew, after a change in go.mod

GO       ?= go
PREFIX   ?= /usr/local
FUZZTIME ?= 1000000x

# GO=... from the outside reaches scripts, too.
export GO

# Where agent and install-files have their files: those for another processor lie elsewhere.
BIN = bin

VERSION   ?= $(shell script/version)
# -w: without DWARF, which is a fifth of the program. Go's own messages and perf's names need none of it.
GO_LDFLAGS = -w -X main.buildVersion=$(VERSION)

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZ        = ./jitdump:FuzzReader ./internal/format/monolog:FuzzReader ./internal/format/sourcemap:FuzzRead ./internal/export:FuzzQuote ./internal/dumptail:FuzzParse ./internal/profile:FuzzScript ./internal/runtime/v8:FuzzScriptMap ./perfdata:FuzzOpen ./perfdata:FuzzPipe ./perfdata:FuzzDecodeSample ./internal/runtime/jitdump:FuzzScan ./internal/runtime/mono:FuzzMonoLog ./internal/jitobj:FuzzBuild \
              ./internal/cfi:FuzzSynthesize ./internal/ehframe:FuzzCheck ./internal/cfi:FuzzInterpreterRows ./internal/elfcore:FuzzOpen ./internal/show:FuzzShow ./internal/show/showj9:FuzzOpenJ9 ./internal/show/showv8:FuzzLog ./internal/format/xrayfdr:FuzzReader ./internal/format/v8log:FuzzReader ./internal/format/j9meta:FuzzDecode \
              ./internal/xraymap:FuzzRead ./internal/runtime/xray:FuzzXRay ./internal/runtime/v8:FuzzTree \
              ./internal/verify/checkdump:FuzzDump \
              ./internal/format/gdbjit:FuzzReadList ./internal/format/jitelf:FuzzDescribe ./internal/format/perfmap:FuzzReader ./internal/verify/checkmap:FuzzMap ./internal/runtime/gdbjit:FuzzObjects ./internal/verify/checkgdbjit:FuzzCore ./internal/verify/checkrecording:FuzzRecording ./internal/verify/checkobject:FuzzObject ./agent/jvmti/test:FuzzAgent
# Whole runs; each takes milliseconds.
FUZZ_WHOLE  = ./cmd/jitinject:FuzzProgram ./cmd/jitinject:FuzzScene

# What make check has of make race: workers, streams, progress, signals, caches that workers share.
RACE       = ./internal/engine ./cmd/jitinject ./internal/runtime/jitdump
RACE_TESTS = AnyNumberOfWorkers|MadeTogether|SideBySide|^TestStream_|^TestProgress|^TestBar_|^TestInterrupt_|_Interrupted|ChangesWhileRead|^TestCache_LikePerf

.PHONY: build agent demo check test race race-seconds interop bench runtimes record fuzz lint man man-files sessions \
        install install-files install-header install-agent uninstall packages release copyright clean

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(GO_LDFLAGS)' -o $(BIN)/jitinject ./cmd/jitinject
	ln -sf jitinject $(BIN)/perf-jitinject

# JAVA_HOME, or the JDK whose javac is first in PATH.
JDK          ?= $(or $(JAVA_HOME),$(patsubst %/bin/javac,%,$(realpath $(shell command -v javac))))
AGENT_CFLAGS  = -std=gnu11 -O2 -g -fPIC -fvisibility=hidden -pthread -Wall -Wextra -Werror

agent:
	@test -f "$(JDK)/include/jvmti.h" || { echo "no include/jvmti.h of a JDK: set JAVA_HOME"; exit 1; }
	@mkdir -p $(BIN)
	$(CC) $(CPPFLAGS) $(AGENT_CFLAGS) $(CFLAGS) -I"$(JDK)/include" -I"$(JDK)/include/linux" -shared $(LDFLAGS) -o $(BIN)/libjitinject-jvmti.so agent/jvmti/*.c

demo: build
	script/demo

check:
	script/deps
	$(MAKE) build lint test race-seconds

# Without the tools (script/deps), tests that need them are skipped. -count=1: the go command does not know that tests
# run the program, and took results from its cache although that had changed.
test: export JITINJECT_TOOLS ?= required
test:
	@mkdir -p build; rm -f build/skips
	JITINJECT_SKIPS=$(CURDIR)/build/skips $(GO) test -count=1 -timeout 30m ./...; status=$$?; \
	if [ -s build/skips ]; then echo "$$(wc -l < build/skips) tests or parts of tests were skipped:"; sort build/skips; fi; exit $$status

# The race detector needs cgo. The command is built without. A package that starts no goroutine and has no lock is
# tried by the tests of those that use it.
race: race-seconds
	CGO_ENABLED=1 $(GO) test -race -short -timeout 1h $$(grep -rlE --include='*.go' '^\s*go [a-z]|chan |"sync|/x/sync' . | xargs dirname | sort -u)

race-seconds:
	CGO_ENABLED=1 $(GO) test -race -run '$(RACE_TESTS)' $(RACE)

interop:
	script/interop $(PARTS)

bench: build
	$(GO) run ./internal/bench $(BENCH)

# Without a JDK there is no agent, and no Java.
runtimes: build
	-$(MAKE) agent
	$(GO) run ./internal/runtimes -bin $(BIN) -roots $${JITINJECT_ROOTS:-/var/cache/jitinject} $(RUNTIMES)

record:
	$(GO) test ./internal/trials -count=1 -timeout 2h -run '^TestRecord_Table$$' -write $(RECORD)

sessions:
	script/sessions $(SESSIONS)

# A target that fails does not keep the others from running. With a time, Go may end with "context deadline exceeded"
# and no finding: that is none.
fuzz:
	@mkdir -p build; failed=; for t in $(FUZZ) $(FUZZ_WHOLE); do \
		echo "fuzzing $$t for $(FUZZTIME)"; \
		{ $(GO) test $${t%%:*} -run '^$$' -fuzz "^$${t##*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x 2>&1 && echo ended well; } | tee build/fuzz; \
		tail -1 build/fuzz | grep -qx 'ended well' || \
		grep -A1 '^--- FAIL' build/fuzz | grep -qx '    context deadline exceeded' || failed="$$failed $$t"; \
	done; [ -z "$$failed" ] || { echo "fuzzing failed:$$failed"; exit 1; }

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# All from the program's own tables, by the program itself: one of this machine.
# SOURCE_DATE_EPOCH gives the pages another date than that of their last change.
man: build
	$(MAKE) man-files

NATIVE = bin/jitinject
man-files:
	rm -rf build/man build/completions
	mkdir -p build/man build/completions
	$(NATIVE) man build/man
	$(NATIVE) completion bash >build/completions/jitinject.bash
	$(NATIVE) completion zsh >build/completions/_jitinject
	$(NATIVE) completion fish >build/completions/jitinject.fish

# Where things go, below DESTDIR. Distributions have their own ideas of some.
BINDIR   = $(PREFIX)/bin
MANDIR   = $(PREFIX)/share/man
BASHDIR  = $(PREFIX)/share/bash-completion/completions
ZSHDIR   = $(PREFIX)/share/zsh/site-functions
FISHDIR  = $(PREFIX)/share/fish/vendor_completions.d
AGENTDIR = $(PREFIX)/lib/jitinject
# Of the header for JIT compilers.
INCLUDEDIR   = $(PREFIX)/include
PKGCONFIGDIR = $(PREFIX)/share/pkgconfig
CMAKEDIR     = $(PREFIX)/share/cmake/jitdump

install: man
	$(MAKE) install-files install-header

install-files:
	install -D -m 755 $(BIN)/jitinject "$(DESTDIR)$(BINDIR)/jitinject"
	ln -sf jitinject "$(DESTDIR)$(BINDIR)/perf-jitinject"
	for page in build/man/man*/*; do \
		[ -L $$page ] || install -D -m 644 $$page "$(DESTDIR)$(MANDIR)/$${page#build/man/}" || exit; done
	ln -sf jitinject.1 "$(DESTDIR)$(MANDIR)/man1/perf-jitinject.1"
	install -D -m 644 build/completions/jitinject.bash "$(DESTDIR)$(BASHDIR)/jitinject"
	ln -sf jitinject "$(DESTDIR)$(BASHDIR)/perf-jitinject"
	install -D -m 644 build/completions/_jitinject "$(DESTDIR)$(ZSHDIR)/_jitinject"
	install -D -m 644 build/completions/jitinject.fish "$(DESTDIR)$(FISHDIR)/jitinject.fish"
	ln -sf jitinject.fish "$(DESTDIR)$(FISHDIR)/perf-jitinject.fish"

# The header, and the files by which pkg-config and CMake find it. Their versions are releases:
# neither orders those of other commits.
install-header:
	install -D -m 644 producer/jitdump.h "$(DESTDIR)$(INCLUDEDIR)/jitdump.h"
	install -d "$(DESTDIR)$(PKGCONFIGDIR)" "$(DESTDIR)$(CMAKEDIR)"
	version="$(VERSION)" && version=$${version%%[~+-]*} && \
	sed 's|@PREFIX@|$(PREFIX)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|'"$$version|" \
		producer/jitdump.pc.in >"$(DESTDIR)$(PKGCONFIGDIR)/jitdump.pc" && \
	for file in jitdump-config.cmake jitdump-config-version.cmake; do \
		sed "s|@INCLUDEDIR@|$$(realpath -m --relative-to="$(CMAKEDIR)" "$(INCLUDEDIR)")|; s|@VERSION@|$$version|" \
			producer/$$file.in >"$(DESTDIR)$(CMAKEDIR)/$$file" || exit; done
	chmod 644 "$(DESTDIR)$(PKGCONFIGDIR)/jitdump.pc" "$(DESTDIR)$(CMAKEDIR)"/*

install-agent: agent
	install -D -m 755 $(BIN)/libjitinject-jvmti.so "$(DESTDIR)$(AGENTDIR)/libjitinject-jvmti.so"

uninstall:
	cd "$(DESTDIR)/" && rm -f $(addprefix .,$(BINDIR)/jitinject $(BINDIR)/perf-jitinject \
		$(BASHDIR)/jitinject $(BASHDIR)/perf-jitinject $(ZSHDIR)/_jitinject \
		$(FISHDIR)/jitinject.fish $(FISHDIR)/perf-jitinject.fish \
		$(MANDIR)/man1/jitinject.1 $(MANDIR)/man1/jitinject-*.1 $(MANDIR)/man1/perf-jitinject.1 $(MANDIR)/man3/jitdump.3 $(MANDIR)/man5/jitdump.5 \
		$(INCLUDEDIR)/jitdump.h $(PKGCONFIGDIR)/jitdump.pc $(CMAKEDIR)/jitdump-config.cmake $(CMAKEDIR)/jitdump-config-version.cmake \
		$(AGENTDIR)/libjitinject-jvmti.so)
	cd "$(DESTDIR)/" && for dir in .$(AGENTDIR) .$(CMAKEDIR); do \
		[ ! -d $$dir ] || rmdir --ignore-fail-on-non-empty $$dir || exit; done

packages:
	script/packages

release:
	script/release $(VERSION) build/release

copyright:
	@mkdir -p build
	script/copyright >build/copyright
	mv build/copyright packaging/copyright

clean:
	rm -rf bin build
