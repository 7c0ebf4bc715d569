package rewrite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// The table is the same however it is read, and objects that were not made have no entry.
func TestExtendBuildIDs_AnyRead(t *testing.T) {
	old := perfdata.AppendBuildID(nil, binary.LittleEndian, []byte("/usr/bin/app"), bytes.Repeat([]byte{1}, 20))
	want := bytes.Clone(old)
	dump := &model.Dump{Objects: "/tmp/objects"}
	var plan model.Plan
	for i := range 3000 {
		o := model.Object{Function: &model.Function{Dump: dump, PID: 42, Index: uint64(i)}, Made: i%3 != 0, BuildID: [20]byte{byte(i), byte(i >> 8)}}
		plan.Objects = append(plan.Objects, o)
		if o.Made {
			want = perfdata.AppendBuildID(want, binary.LittleEndian, fmt.Appendf(nil, "/tmp/objects/%s", o.AppendName(nil)), o.BuildID[:])
		}
	}
	r := &copier{Plan: &plan, Rec: testRecording()}
	table := r.extendBuildIDs(io.NewSectionReader(bytes.NewReader(old), 0, int64(len(old))))
	if err := iotest.TestReader(table, want); err != nil {
		t.Error(err)
	}
	piece := make([]byte, 100)
	for _, off := range []int{len(want) - 100, 5, len(old) - 50, len(want) / 2, len(old)} {
		if n, err := table.ReadAt(piece, int64(off)); err != nil || n < len(piece) || !bytes.Equal(piece, want[off:off+n]) {
			t.Errorf("%d bytes at %d: got %d of them, %v, or others", len(piece), off, n, err)
		}
	}
	if n, err := table.ReadAt(piece, int64(len(want)-10)); n != 10 || err != io.EOF {
		t.Errorf("at the end: got %d, %v; want 10 and EOF", n, err)
	}
}

// A recording that becomes shorter while it is read is an error, and no panic.
func TestExtendBuildIDs_ShorterTable(t *testing.T) {
	old := bytes.Repeat([]byte{1}, 1000)
	plan := model.Plan{Objects: []model.Object{{Function: &model.Function{Dump: &model.Dump{Objects: "/tmp"}}, Made: true}}}
	r := &copier{Plan: &plan, Rec: testRecording()}
	table := r.extendBuildIDs(io.NewSectionReader(bytes.NewReader(old[:500]), 0, int64(len(old))))
	if got, err := io.ReadAll(table); !errors.Is(err, io.ErrUnexpectedEOF) || len(got) > 500 {
		t.Errorf("got %d bytes, %v; want 500 and an unexpected end", len(got), err)
	}
}

// testRecording returns a recording of this byte order.
func testRecording() *recording.Recording {
	return &recording.Recording{In: &recording.Input{Order: binary.LittleEndian}}
}
