package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit/registered"
)

// freed returns the core as it would be after the program had removed all its registered objects.
func freed(t *testing.T) func(b []byte) []byte {
	return func(b []byte) []byte {
		core, err := elfcore.Open(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		addr := registered.Find(&registered.Process{Memory: core, Class: core.Class, Order: core.Order, Machine: core.Machine})[0].Addr
		for _, s := range core.Segments() {
			if addr-s.Addr < s.Stored {
				descriptor := b[s.Offset+int64(addr-s.Addr):][:24]
				descriptor[4] = 2 // JIT_UNREGISTER_FN
				clear(descriptor[16:])
			}
		}
		return b
	}
}

// A process that has freed its code is named for samples in that code: they are counted, and missing.
func TestGDBJIT_NothingRegisteredNow(t *testing.T) {
	for _, c := range []struct {
		name     string
		dump     bool // the process wrote a jitdump
		noCount  bool
		problem  bool
		want     string // a part of a problem or of a note
		complete bool
	}{
		{"samples", false, false, true, " samples of it lie in executable memory without a file", false},
		{"not counted", false, true, false, "its samples were not counted", true},
		{"with a dump", true, false, false, "none is missing: no sample of it lies in executable memory", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, opts := lliRecording(t, freed(t))
			opts.NoCount = c.noCount
			path, from := filepath.Join(dir, lliDump), lliData+lliDump
			if !c.dump {
				path, from = opts.Input, opts.Input
			}
			b, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			if !c.dump { // the process mapped memory in place of its jitdump
				end := bytes.Index(b, []byte(lliDump)) + len(lliDump)
				name := b[bytes.LastIndexByte(b[:end-len(lliDump)], 0)+1 : end]
				copy(name, "//anon\x00")
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			sum, err := engine.Run(context.Background(), opts)
			text := fmt.Sprint(err)
			if sum != nil {
				text = fmt.Sprint(sum.Notes)
				if c.problem {
					text = fmt.Sprint(sum.Problems)
				}
			}
			want := fmt.Sprintf("process %d had no code registered for debuggers when the core dump was made", lliProcess)
			if !strings.Contains(text, want) || !strings.Contains(text, c.want) || strings.Contains(text, "not needed") {
				t.Errorf("got %s; want %q and %q", text, want, c.want)
			}
			if sum != nil && sum.Complete() != c.complete {
				t.Errorf("got problems %v; want a complete result: %v", sum.Problems, c.complete)
			}
		})
	}
}
