package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A part is what can be run by itself.
type part struct {
	name, what  string // what it is; %s is the number of objects, if it has plain loops
	make        func(dir string) error
	contestants []string
	media       string // on which it makes sense: in memory, on disk
}

// modes are the contestants that make objects.
var modes = []string{byDefault, withoutSync, again, sampled, bundle, withCFI, perfInject, withoutCache, plainLoop, plainSynced}

// readers are those that read source lines of results.
var readers = []string{sourceLines + byDefault, sourceLines + bundle, sourceLines + perfInject}

const longText = "A recording of 1024 MB with few functions: node-fp, its samples repeated."

var allParts = []part{
	{"erlang", "A real recording: Erlang's compiler made %s functions.", unpack("erlang"), modes, "in memory, on disk"},
	{"functions", "A made-up recording of %s functions, 450 bytes of code on average, all with source lines.",
		testrec.Made{Functions: 100_000}.Write, modes, "in memory, on disk"},
	// There, most of the time passes in the file system.
	{"tiny", "A made-up recording of %s functions of three instructions, without lines.",
		testrec.Made{Functions: 100_000, Tiny: true}.Write, modes, "in memory"},
	// There, all is reading and writing.
	{"long", longText, repeat(1 << 30), []string{byDefault, withoutSync, bundle, sampled, copying, copyingSynced, perfInject, withoutCache}, "in memory"},
	{"long", longText, repeat(1 << 30), []string{byDefault, withoutSync, copying, copyingSynced}, "on disk"}, // where all results stay
	// Not node's: there, addr2line is at work on node itself for minutes.
	{"readers-erlang", "Time that perf takes to read the results of Erlang's recording.", unpack("erlang"), readers, "in memory"},
	{"readers-functions", "Time that perf takes to read the results of a made-up recording of 10,000 functions, 500 of them with samples.",
		testrec.Made{Functions: 10_000}.Write, readers, "in memory"},
	{"xray", "A trace of XRay with 4,000,000 records, in two threads.", func(dir string) error { return testrec.MakeXRay(dir, 4_000_000) }, []string{withXRay, llvmConvert}, "in memory"},
	// Too large for llvm-xray, which keeps all in memory.
	{"xray-large", "The same with 100,000,000 records.", func(dir string) error { return testrec.MakeXRay(dir, 100_000_000) }, []string{withXRay}, "in memory"},
}

func partNames() []string {
	var names []string
	for _, p := range allParts {
		names = append(names, p.name)
	}
	return slices.Compact(names)
}

// part runs a part, if it makes sense on the medium.
func (b *bench) part(m *medium, name string) error {
	i := slices.IndexFunc(allParts, func(p part) bool { return p.name == name && strings.Contains(p.media, m.where()) })
	if i < 0 {
		return nil
	}
	p := allParts[i]
	if err := m.make(p.make); err != nil {
		return err
	}
	what := p.what
	var objects [][]byte
	if slices.Contains(p.contestants, plainLoop) {
		var err error
		if objects, err = b.collect(m); err != nil {
			return err
		}
		what = fmt.Sprintf(what, fmt.Sprintf("%d,%03d", len(objects)/1000, len(objects)%1000))
	}
	return b.contest(m, p.name, what, b.contestants(objects, p.contestants))
}

// unpack makes a recording of testdata.
func unpack(name string) func(dir string) error {
	return func(dir string) error {
		if err := testrec.UnpackTo(name, dir); err != nil {
			return err
		}
		return testrec.Relocate(dir)
	}
}

// repeat makes a recording of a size in bytes that has few functions.
func repeat(size int64) func(dir string) error {
	return func(dir string) error {
		if err := unpack("node-fp")(dir); err != nil {
			return err
		}
		return testrec.Repeat(dir, size)
	}
}
