package main

import "strings"

// The contestants' names, as tables have them.
const (
	byDefault     = "jitinject"
	withoutSync   = "jitinject --no-sync"
	again         = "jitinject again, nothing changed"
	sampled       = "jitinject --sampled"
	bundle        = "jitinject --bundle"
	withCFI       = "jitinject --cfi"
	perfInject    = "perf inject --jit"
	withoutCache  = "perf --buildid-dir /dev/null inject --jit"
	copying       = "cp"
	copyingSynced = "cp, then sync of the copy"
	plainLoop     = "a plain loop making the same files"
	plainSynced   = "a plain loop, then syncfs"
)

// results are what the contestants call what they make, beside the dump's objects.
const (
	ourResult  = "ours.data"
	perfResult = "perf.jit.data"
)

// jitinject returns jitinject as a contestant, with the options in its name.
func (b *bench) jitinject(name string) *contestant {
	options := strings.Fields(strings.TrimPrefix(name, byDefault))
	return command(name, append([]string{b.program, "-q", "-i", "perf.data", "-o", ourResult}, options...)...)
}

func command(name string, args ...string) *contestant {
	return &contestant{name: name, run: func(dir string) (result, error) { return run(dir, args...) }}
}

// injectors returns the contestants of those names.
func (b *bench) injectors(names ...string) []*contestant {
	var all []*contestant
	for _, name := range names {
		switch name {
		case perfInject, withoutCache:
			all = append(all, command(name, append(strings.Fields(name), "-i", "perf.data", "-o", perfResult)...))
		case copying:
			all = append(all, command(name, "cp", "perf.data", ourResult))
		case copyingSynced:
			all = append(all, command(name, "sh", "-c", "cp perf.data "+ourResult+" && sync "+ourResult))
		case again:
			c := b.jitinject(byDefault)
			c.name, c.same = again, true
			all = append(all, c)
		default:
			all = append(all, b.jitinject(name))
		}
	}
	return all
}
