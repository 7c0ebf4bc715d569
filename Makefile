# make            build bin/jitinject and bin/perf-jitinject; VERSION=1.2.3 where git does not tell it
# make agent      build bin/libjitinject-jvmti.so, the agent for Java (gcc, a JDK's headers)
# make demo       record a real program, inject, show the result
# make check      install what the tests need, then lint, test and fuzz for seconds
# make interop    what takes longer: other perfs, every object, long fuzzing
# make bench      compare with perf inject, in the same run; BENCH='-disk DIR -only erlang ...'
# make growth     time and memory from 10,000 to 300,000 functions, into docs
# make sessions   run the sessions that the documentation shows, and paste what they print; SESSIONS='-only WORD FILE.md ...'
# make fuzz       fuzz each target for FUZZTIME: a number of inputs, 1000000x, or a time, 5m
# make lint       gofmt, go vet, staticcheck
# make man        manual pages into build/man, completions for shells into build/completions
# make install    all of that into DESTDIR/PREFIX

GO       ?= go
PREFIX   ?= /usr/local
FUZZTIME ?= 1000000x

# GO=... from the outside reaches scripts, too.
export GO

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZ        = ./jitdump:FuzzReader ./perfdata:FuzzOpen ./perfdata:FuzzPipe ./perfdata:FuzzTouches ./internal/source:FuzzScan ./internal/jitobj:FuzzBuild \
              ./internal/cfi:FuzzSynthesize ./internal/cfi:FuzzCheck ./internal/verify:FuzzVerify ./internal/show:FuzzShow

.PHONY: build agent demo check test interop bench growth fuzz fuzz-seconds lint man sessions install clean

build:
	CGO_ENABLED=0 $(GO) build -trimpath $(if $(VERSION),-ldflags "-X main.buildVersion=$(VERSION)") -o bin/jitinject ./cmd/jitinject
	ln -sf jitinject bin/perf-jitinject

# JAVA_HOME, or the JDK whose javac is first in PATH.
JDK          ?= $(or $(JAVA_HOME),$(patsubst %/bin/javac,%,$(realpath $(shell command -v javac))))
AGENT_CFLAGS  = -std=gnu11 -O2 -g -fPIC -fvisibility=hidden -pthread -Wall -Wextra -Werror

agent:
	@test -f "$(JDK)/include/jvmti.h" || { echo "no include/jvmti.h of a JDK: set JAVA_HOME"; exit 1; }
	@mkdir -p bin
	$(CC) $(AGENT_CFLAGS) $(CFLAGS) -I"$(JDK)/include" -I"$(JDK)/include/linux" -shared -o bin/libjitinject-jvmti.so agent/jvmti/*.c

demo: build
	script/demo

check:
	script/deps
	$(MAKE) build lint test fuzz-seconds

# Without the tools (script/deps), tests that need them are skipped.
test: export JITINJECT_TOOLS ?= required
test:
	$(GO) test -timeout 30m ./...

interop:
	script/interop

bench: build
	$(GO) run ./internal/bench $(BENCH)

growth: build
	$(GO) run ./internal/bench -growth -plot docs/growth.svg -write docs/benchmarks.md

sessions:
	script/sessions $(SESSIONS)

fuzz:
	@set -e; for t in $(FUZZ); do \
		echo "fuzzing $$t for $(FUZZTIME)"; \
		$(GO) test $${t%%:*} -run '^$$' -fuzz "^$${t##*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x; \
	done

# A number of inputs: when time is up, Go's fuzzing may end with "context deadline
# exceeded" and no finding.
fuzz-seconds:
	$(MAKE) fuzz FUZZTIME=50000x

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# All from the program's own tables, by the program itself: one of this machine.
# SOURCE_DATE_EPOCH gives the pages another date than that of their last change.
man: build
	rm -rf build/man build/completions
	mkdir -p build/man build/completions
	bin/jitinject man build/man
	bin/jitinject completion bash >build/completions/jitinject.bash
	bin/jitinject completion zsh >build/completions/_jitinject
	bin/jitinject completion fish >build/completions/jitinject.fish

SHARE = $(DESTDIR)$(PREFIX)/share
install: man
	install -D -m 755 bin/jitinject $(DESTDIR)$(PREFIX)/bin/jitinject
	ln -sf jitinject $(DESTDIR)$(PREFIX)/bin/perf-jitinject
	for f in $$(cd build/man && find . -type f); do install -D -m 644 build/man/$$f $(SHARE)/man/$$f; done
	install -D -m 644 build/completions/jitinject.bash $(SHARE)/bash-completion/completions/jitinject
	ln -sf jitinject $(SHARE)/bash-completion/completions/perf-jitinject
	install -D -m 644 build/completions/_jitinject $(SHARE)/zsh/site-functions/_jitinject
	install -D -m 644 build/completions/jitinject.fish $(SHARE)/fish/vendor_completions.d/jitinject.fish
	ln -sf jitinject.fish $(SHARE)/fish/vendor_completions.d/perf-jitinject.fish

clean:
	rm -rf bin build
