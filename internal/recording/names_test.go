package recording

import (
	"testing"
)

func TestMarker_EveryName(t *testing.T) {
	for path, want := range map[string]int64{
		"/tmp/jit-1.dump":                           1,
		"/jit-4294967295.dump":                      4294967295,
		"/home/me/jit-12 (deleted)/jit-7.dump":      7,
		"/tmp/jit-7.dump (deleted)":                 7,
		"/tmp/jit-2499-2485.dump":                   2485, // JavaScriptCore
		"/tmp/jit-2499-2485.dump (deleted)":         2485,
		"jit-1.dump":                                -1,
		"/tmp/jit-.dump":                            -1,
		"/tmp/jit--1.dump":                          -1,
		"/tmp/jit-1-.dump":                          -1,
		"/tmp/jit-1-2-3.dump":                       -1,
		"/tmp/jit-+1.dump":                          -1,
		"/tmp/jit-4294967296.dump":                  -1,
		"/tmp/jit-1.dump.bak":                       -1,
		"/tmp/jit-1.dump/x":                         -1,
		"/tmp/xjit-1.dump":                          -1,
		"/tmp/jit-1.dump (deleted) (deleted)":       -1,
		"/tmp/jit-99999999999999999999-1.dump":      -1,
		"/tmp/.debug/jit/abc/jit-1-4294967296.dump": -1,
	} {
		number, ok := markerNumber([]byte(path))
		if ok != (want >= 0) || ok && int64(number) != want {
			t.Errorf("%s: %d, %v; want %d", path, number, ok, want)
		}
	}
}

func TestIsTruffle_EndsOfNames(t *testing.T) {
	for comm, want := range map[string]bool{"mpilerThread-32": true, "ompilerThread-7": true, "pilerThread-128": true, "mpilerThread-3x": false, "C2 CompilerThre": false, "CompilerThread7": false, "mpilerThread-3": false, "999999999999999": false, "": false} {
		if got := isTruffle([]byte(comm)); got != want {
			t.Errorf("%q: got %v; want %v", comm, got, want)
		}
	}
}
