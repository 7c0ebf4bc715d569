package perfdata_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// UserStack finds the same copies as Touches in real recordings, and their room.
func TestUserStack_Real(t *testing.T) {
	for name, want := range map[string]struct{ samples, full, room int }{
		"php-dwarf": {41, 39, 8192}, "toyjit-dwarf": {104, 104, 1024}, "node-dwarf": {88, 1, 16384}, "node-hot": {},
	} {
		b, err := os.ReadFile(filepath.Join(testrec.Unpack(t, name), "perf.data"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := perfdata.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		layouts, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
		if err != nil {
			t.Fatal(err)
		}
		blocks := f.Blocks()
		got := struct{ samples, full, room int }{}
		for {
			block, err := blocks.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range block.Records() {
				room, copied, ok := layouts.UserStack(r)
				if !ok {
					continue
				}
				var touches perfdata.Touches
				if err := layouts.Touches(r, &touches); err != nil || len(touches.Stack) != copied {
					t.Errorf("%s: %d bytes were copied, %d are there, %v", name, copied, len(touches.Stack), err)
				}
				got.samples++
				got.room = max(got.room, room)
				if room == copied {
					got.full++
				}
				// A record that ends in it has none.
				short := r
				short.Data = r.Data[:len(r.Data)-16]
				if _, _, ok := layouts.UserStack(short); ok && room > 0 {
					t.Errorf("%s: a record without its end has a stack", name)
				}
			}
		}
		if got.samples < want.samples || got.full < want.full { // there are other processes
			t.Errorf("%s: %d samples with stacks, %d full, want %d and %d at least", name, got.samples, got.full, want.samples, want.full)
		}
		if got.room != want.room || want.room == 0 && got.samples > 0 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
