package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// The contestants' names, as tables have them.
const (
	byDefault    = "jitinject"
	again        = "jitinject again, nothing changed"
	sampled      = "jitinject --sampled"
	bundle       = "jitinject --bundle"
	withCFI      = "jitinject --cfi"
	perfInject   = "perf inject --jit"
	withoutCache = "perf --buildid-dir /dev/null inject --jit"
	copying      = "cp"
	plainLoop    = "a plain loop making the same files"
)

// results are what the contestants call what they make, beside the dump's objects.
const (
	ourResult  = "ours.data"
	perfResult = "perf.jit.data"
)

// jitinject returns jitinject with options as a contestant. ok is false, and a note
// is printed, if it does not know them.
func (b *bench) jitinject(name string) (c *contestant, ok bool) {
	options := strings.Fields(strings.TrimPrefix(name, byDefault))
	for _, o := range options {
		o = strings.Replace(o, "--no-", "--", 1)
		if help, err := exec.Command(b.program, "--help").Output(); err == nil && !strings.Contains(string(help), " "+o+" ") {
			if !b.missing[name] {
				fmt.Printf("note: without %s, which jitinject does not have\n", name)
				b.missing[name] = true
			}
			return nil, false
		}
	}
	return &contestant{name: name, run: func(dir string) (result, error) {
		return run(dir, append([]string{b.program, "-q", "-i", "perf.data", "-o", ourResult}, options...)...)
	}}, true
}

func perfInjectAs(name string) *contestant {
	return command(name, append(strings.Fields(name), "-i", "perf.data", "-o", perfResult)...)
}

func command(name string, args ...string) *contestant {
	return &contestant{name: name, run: func(dir string) (result, error) { return run(dir, args...) }}
}

// injectors returns the contestants of those names that there are.
func (b *bench) injectors(names ...string) []*contestant {
	var all []*contestant
	for _, name := range names {
		switch name {
		case perfInject, withoutCache:
			all = append(all, perfInjectAs(name))
		case copying:
			all = append(all, command(name, "cp", "perf.data", ourResult))
		case again:
			c, _ := b.jitinject(byDefault)
			c.name, c.same = again, true
			all = append(all, c)
		default:
			if c, ok := b.jitinject(name); ok {
				all = append(all, c)
			}
		}
	}
	return all
}
