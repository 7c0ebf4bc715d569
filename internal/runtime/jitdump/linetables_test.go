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
			d.constraints, d.positions, d.optimized = lineConstraints{}, v8Positions{}, 0
			if err := d.readTables(t.Context(), by.atOnce, by.goroutines); err != nil {
				t.Fatal(err)
			}
			d.constraints.fits = nil
			if want == nil {
				want = d
			}
			if d.constraints.functions != d.NumFunctions() {
				t.Errorf("%s, %+v: got the tables of %d functions; want %d", path, by, d.constraints.functions, d.NumFunctions())
			}
			if !reflect.DeepEqual(d.constraints, want.constraints) || d.optimized != want.optimized {
				t.Errorf("%s, %+v: got constraints %+v, %d optimized; want %+v, %d", path, by, d.constraints, d.optimized, want.constraints, want.optimized)
			}
			if !reflect.DeepEqual(d.positions, want.positions) {
				t.Errorf("%s, %+v: got other positions than one goroutine", path, by)
			}
		}
		if want.constraints.tables+want.constraints.baseline == 0 || want.IsV8() && len(want.positions.byFile) == 0 {
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
	d.constraints = lineConstraints{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.readTables(ctx, 10, 2); err != context.Canceled {
		t.Errorf("got error %v; want %v", err, context.Canceled)
	}
}
