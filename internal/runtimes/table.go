package main

import (
	"context"
	"fmt"
	"strings"
)

// defaults are the runtimes tried without arguments. The newest Node.js is added if it is
// none of them.
var defaults = strings.Fields(`
	node@20 node@22 node@24 node@25 node@26 deno bun bun-lines
	jsc/sid workerd chromium wazero wasmtime-go wasmtime-go-core
	php@8.2/bookworm php@8.4/trixie php@8.4/sid
	java@17/bookworm java@21/trixie java@25/sid
	erlang@25/bookworm erlang@27/trixie elixir@1.18/trixie
	python@3.13/trixie python@3.14/sid
	numba@0.65/sid python-jit@3.15/sid dart@1.89
	lli@14/bookworm lli@19/trixie lli@23/sid lli-live@19/trixie lli-live@23/sid
	jitlink@19/trixie jitlink@22/trixie jitlink@23/sid jitlink-live@19/trixie
	clang-repl@19/trixie clang-repl@22/trixie clang-repl@23/sid
	postgres@15/bookworm postgres@17/trixie
	mono@6.8/bookworm mono@6.12/trixie
	qemu@10.0/trixie
	java@26/sid java@27/sid erlang@29/sid mono@6.14/sid dotnet jruby@10.1/sid moar@2024.09/sid
`)

// A runtime is one version of a runtime.
type runtime struct {
	id      string // as typed
	family  *family
	version string // or ""
	suite   string // of Debian, or "" for npm and Go's proxy
}

// parse reads FAMILY@VERSION/SUITE. Without a suite, it uses this machine's release.
func parse(id string) (*runtime, error) {
	rest, suite, _ := strings.Cut(id, "/")
	name, version, _ := strings.Cut(rest, "@")
	for i := range families {
		f := &families[i]
		if f.name != name {
			continue
		}
		switch {
		case f.npm != "" && suite != "":
			return nil, fmt.Errorf("%s: %s comes from npm, which has no release %s", id, name, suite)
		case f.module != nil && suite != "":
			return nil, fmt.Errorf("%s: %s comes from Go's proxy, which has no release %s", id, name, suite)
		case f.packages != nil && version == "" && !f.rolling:
			return nil, fmt.Errorf("%s: which version? %s@VERSION/SUITE", id, name)
		case f.packages != nil && suite == "":
			suite = thisSuite()
		}
		return &runtime{id: id, family: f, version: version, suite: suite}, nil
	}
	var names []string
	for i := range families {
		names = append(names, families[i].name)
	}
	return nil, fmt.Errorf("%s: no family is called %q; there are %s", id, name, strings.Join(names, ", "))
}

// newestNode returns node@MAJOR for the newest Node.js of npm, or "" if npm does not
// answer.
func newestNode(ctx context.Context) string {
	versions, err := npmVersions(ctx, "node")
	if err != nil {
		return ""
	}
	major, _, _ := strings.Cut(newest(versions, ""), ".")
	if major == "" {
		return ""
	}
	return "node@" + major
}
