package main

import (
	"cmp"
	"fmt"
	"os/exec"

	"github.com/jitinject/jitinject/internal/testrec"
)

// The contestants of traces of XRay.
const (
	withXRay    = "jitinject --xray"
	llvmConvert = "llvm-xray convert -f yaml"
)

// Sizes of made-up traces, in records: one that llvm-xray, which keeps all in memory, can be
// asked about, and one that is too large for it.
const (
	someRecords = 4_000_000
	manyRecords = 100_000_000
)

// xray measures what it takes to put traces of XRay into a recording, and beside it what
// LLVM's tool takes to make text of them.
func (b *bench) xray(m *medium) error {
	// Where the result goes is not what is asked for: it is some fifty bytes for each record.
	ours := func() *contestant {
		return command(withXRay, "sh", "-c", fmt.Sprintf("exec '%s' -q -i perf.data -o - --xray xray-log.calls >/dev/null", b.program))
	}
	few := madeXRay(someRecords)
	defer m.forget(few)
	c := &contest{recording: few, medium: m, rounds: cmp.Or(b.rounds, 3), contestants: []*contestant{ours()}}
	if tool := llvmXRay(); tool != "" {
		c.contestants = append(c.contestants, command(llvmConvert, tool, "convert", "-f", "yaml", "-o", "/dev/null", "xray-log.calls"))
	} else {
		fmt.Println("note: without llvm-xray, which is not installed")
	}
	if err := b.show(c, "xray", fmt.Sprintf("A trace of XRay with %s records, in two threads. Rounds: %d, %s.", thousands(someRecords), c.rounds, m.name())); err != nil {
		return err
	}
	many := madeXRay(manyRecords)
	defer m.forget(many)
	c = &contest{recording: many, medium: m, rounds: 1, contestants: []*contestant{ours()}}
	return b.show(c, "xray-large", fmt.Sprintf("The same with %s records, %s.", thousands(manyRecords), m.name()))
}

func madeXRay(records int64) recording {
	return recording{fmt.Sprintf("xray-%d", records), func(dir string) error { return testrec.MakeXRay(dir, records) }}
}

// llvmXRay returns the path of llvm-xray, or "".
func llvmXRay() string {
	for _, version := range []string{"", "-14", "-16", "-19", "-22"} {
		if path, err := exec.LookPath("llvm-xray" + version); err == nil {
			return path
		}
	}
	return ""
}
