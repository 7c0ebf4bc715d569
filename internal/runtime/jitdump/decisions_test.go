package jitdump

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// What is decided about lines, and the numbers that are shown of it, do not depend on the number of
// goroutines that read tables, and on how many they read at once.
func TestLineTables_SameForAnyNumberOfGoroutines(t *testing.T) {
	paths := testrec.Dumps(t, testrec.Unpack(t, "erlang"))
	for _, version := range []string{"node16", "node18", "node25", "deno"} {
		paths = append(paths, filepath.Join(testrec.Unpack(t, "v8-lines"), version+".dump"))
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var want *Dump
		for _, by := range []struct{ atOnce, goroutines int }{{1 << 30, 1}, {10, 1}, {7, 4}, {512, 2}} {
			d, err := OpenFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Scan(t.Context()); err != nil {
				t.Fatal(err)
			}
			// Again from the start, as if nothing had been read yet.
			d.decisions = decisions{}
			if err := d.decisions.readTables(t.Context(), &d.listing, by.atOnce, by.goroutines); err != nil {
				t.Fatal(err)
			}
			d.decisions.constraints.fits = nil
			if want == nil {
				want = d
			}
			if d.decisions.functions != d.NumFunctions() {
				t.Errorf("%s, %+v: got the tables of %d functions; want %d", path, by, d.decisions.functions, d.NumFunctions())
			}
			if !reflect.DeepEqual(d.decisions.constraints, want.decisions.constraints) || d.decisions.optimized != want.decisions.optimized {
				t.Errorf("%s, %+v: got constraints %+v, %d optimized; want %+v, %d", path, by, d.decisions.constraints, d.decisions.optimized, want.decisions.constraints, want.decisions.optimized)
			}
			if !reflect.DeepEqual(d.decisions.positions, want.decisions.positions) {
				t.Errorf("%s, %+v: got other positions than one goroutine", path, by)
			}
		}
		if want.decisions.constraints.tables+want.decisions.constraints.baseline == 0 || want.IsV8() && len(want.decisions.positions.byFile) == 0 {
			t.Errorf("%s: got no tables or no positions", path)
		}
	}
}

// A scan that is cancelled while tables are read fails with the context's error.
func TestLineTables_Cancelled(t *testing.T) {
	f, err := os.Open(testrec.Dumps(t, testrec.Unpack(t, "erlang"))[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := OpenFile(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.decisions = decisions{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.decisions.readTables(ctx, &d.listing, 10, 2); err != context.Canceled {
		t.Errorf("got error %v; want %v", err, context.Canceled)
	}
}
