package jitdump_test

import (
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

func TestProcessOf_Names(t *testing.T) {
	for name, want := range map[string]uint32{
		"/tmp/jit-12.dump": 12, "/tmp/jit-7-12.dump": 12, "/x/jit-12.dump (deleted)": 12, "jit-1.dump": 1,
		"/tmp/jit-.dump": 0, "/tmp/jit-x-1.dump": 0, "/tmp/jit-1-.dump": 0, "/tmp/jit-1-2-3.dump": 0, "/tmp/jit-4294967296.dump": 0, "/tmp/jit-1.dump.gz": 0, "/tmp/ajit-1.dump": 0, "socket:[1]": 0, "/tmp/jit--1.dump": 0, "/tmp/jit-+1.dump": 0,
	} {
		if got, ok := jitdump.ProcessOf(name); got != want || ok != (want != 0) {
			t.Errorf("%s: got %d, %v; want %d", name, got, ok, want)
		}
	}
}
