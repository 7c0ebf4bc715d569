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
	php@8.2/bookworm php@8.4/trixie php@8.4/sid
	java@17/bookworm java@21/trixie java@25/sid
	erlang@25/bookworm erlang@27/trixie elixir@1.18/trixie
	python@3.13/trixie python@3.14/sid
	lli@14/bookworm lli@19/trixie jitlink@19/trixie
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
	suite   string // of Debian, or "" for npm
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
		if f.npm != "" && suite != "" {
			return nil, fmt.Errorf("%s: %s comes from npm, which has no release %s", id, name, suite)
		}
		if f.npm == "" && version == "" {
			return nil, fmt.Errorf("%s: which version? %s@VERSION/SUITE", id, name)
		}
		if f.npm == "" && suite == "" {
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
