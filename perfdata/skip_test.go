package perfdata_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Whatever is left out, what is read is what stands there: records lie across the ends
// of what is read at once.
func TestBlocks_SkipTo(t *testing.T) {
	dir := testrec.Unpack(t, "node-fp")
	if err := testrec.Repeat(dir, 3<<20); err != nil {
		t.Fatal(err)
	}
	data := mustRead(t, filepath.Join(dir, "perf.data"))
	f := open(t, data)
	section := f.Header.Data
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		blocks := f.Blocks()
		at := int64(section.Offset)
		for {
			b, err := blocks.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if b.Offset != at || b.Pos != at-int64(section.Offset) || !bytes.Equal(b.Data, data[at:at+int64(len(b.Data))]) {
				t.Fatalf("a block of %d bytes at %d, position %d, is not what stands at %d", len(b.Data), b.Offset, b.Pos, at)
			}
			at += int64(len(b.Data))
			if rnd.IntN(2) == 0 {
				continue
			}
			// On, over as many records as there may be.
			to := at
			for n := rnd.IntN(4000); n > 0 && to < int64(section.Offset+section.Size); n-- {
				to += int64(f.Header.Order.Uint16(data[to+6:]))
			}
			if err := blocks.SkipTo(to); err != nil {
				t.Fatal(err)
			}
			if at = to; blocks.Offset() != at {
				t.Fatalf("at %d, want %d", blocks.Offset(), at)
			}
		}
		if at != int64(section.Offset+section.Size) {
			t.Fatalf("ended at %d of %d", at, section.Offset+section.Size)
		}
	}
}
