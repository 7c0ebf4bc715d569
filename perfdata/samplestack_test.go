package perfdata_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Copies of stacks in real recordings, and their room.
func TestDecodeSample_RealStacks(t *testing.T) {
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
		got := struct{ samples, full, room int }{}
		for r, err := range perfdata.Records(f.Blocks()) {
			if err != nil {
				t.Fatal(err)
			}
			var sample perfdata.Sample
			if r.Type != perfdata.RecordSample {
				continue
			}
			if err := layouts.DecodeSample(r, perfdata.FieldStackUser, &sample); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			room, copied := sample.UserStack.Size, len(sample.UserStack.Data)
			if room == 0 {
				continue
			}
			if at := sample.UserStack.Offset; f.Header.Order.Uint64(r.Data[at-8:]) != uint64(room) || &r.Data[at] != &sample.UserStack.Data[:1][0] {
				t.Errorf("%s: the copy is not at offset %d of its record", name, at)
			}
			got.samples++
			got.room = max(got.room, room)
			if room == copied {
				got.full++
			}
			// A record that ends in it has none.
			short := r
			short.Data = r.Data[:len(r.Data)-16]
			if err := layouts.DecodeSample(short, perfdata.FieldStackUser, &sample); err == nil || sample.UserStack.Size > 0 {
				t.Errorf("%s: a record without its end has a stack", name)
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
