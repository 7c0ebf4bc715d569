package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

func TestOpen_NotARecording(t *testing.T) {
	good := oneMmap(testrec.NewRecording())
	edit := func(at int, v uint64) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint64(b[at:], v)
		return b
	}
	for _, c := range []struct {
		name, want string
		file       []byte
		is         error
	}{
		{"empty", "it is empty", nil, perfdata.ErrNotPerfData},
		{"short", "only 8 bytes", []byte("PERFILE2"), perfdata.ErrNotPerfData},
		{"text", `begins with "#!/bin/s"`, []byte("#!/bin/sh and so on\n"), perfdata.ErrNotPerfData},
		{"stub of perf inject", "all zeros", make([]byte, 4096), perfdata.ErrNotPerfData},
		{"header size", "size at offset 0x8: is 99", edit(8, 99), nil},
		{"attr size", "attr_size at offset 0x10: is 8", edit(16, 8), nil},
		{"attr size", "attr_size at offset 0x10: is 1099511627776", edit(16, 1<<40), nil},
		{"attrs outside", "attrs at offset", edit(24, 1<<40), nil},
		{"attrs too many", "attrs at offset", edit(32, 1<<60), nil},
		{"no whole attr", "no whole number of entries", edit(32, 100), nil},
		{"data outside", "data at offset", edit(48, 1<<60), nil},
		{"attr larger than its entry", "attr.size at offset 0x74: is 4096", edit(104+8, 1|4096<<32), nil},
		{"ids outside", "attr table: ids", edit(104+8+128, 1<<40), nil},
		{"features outside", "reach beyond the end of the file", edit(len(good)-12-32, 1<<40), nil},
		{"cut", "reach beyond the end", good[:300], nil},
	} {
		_, err := perfdata.Open(bytes.NewReader(c.file), int64(len(c.file)))
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// perf record was killed: the header says that there is no data, and yet there
// is, up to a record that is cut.
func TestOpen_PerfWasKilled(t *testing.T) {
	rec := testrec.NewRecording()
	rec.Comm(1, 100, "a", false)
	rec.Comm(1, 200, "b", false)
	good := rec.Bytes()
	dataAt := binary.LittleEndian.Uint64(good[40:])
	dataEnd := dataAt + binary.LittleEndian.Uint64(good[48:])
	for _, cut := range []uint64{0, 1, 8, 20} {
		b := bytes.Clone(good[:dataEnd-cut])
		clear(b[48:56])
		clear(b[72:104])
		f := open(t, b)
		n := 0
		records(t, f, func(int64, perfdata.Record) { n++ })
		want := 2
		if cut > 0 {
			want = 1
		}
		if n != want || !f.Header.Unfinished {
			t.Errorf("%d bytes cut: %d records, want %d; unfinished is %v", cut, n, want, f.Header.Unfinished)
		}
	}
	b := bytes.Clone(good[:dataAt])
	clear(b[48:56])
	if _, err := perfdata.Open(bytes.NewReader(b), int64(len(b))); !errors.Is(err, perfdata.ErrNoData) {
		t.Errorf("no data at all: %v", err)
	}
}

func TestBlocks_BadRecords(t *testing.T) {
	for _, c := range []struct {
		name, want string
		typ        uint32
		size       uint16
		body       []byte
	}{
		{"size 0", "a record of 0 bytes", 1, 0, nil},
		{"too long", "beyond the end of the data", 1, 2000, nil},
		{"AUXTRACE without size", "has no room for its payload's size", 71, 8, nil},
		{"AUXTRACE beyond the end", "with 4096 bytes of payload, but 0 bytes of data are left", 71, 24, []byte{0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		rec := testrec.NewRecording()
		rec.Raw(c.typ, 0, c.body)
		b := rec.Bytes()
		dataAt := binary.LittleEndian.Uint64(b[40:])
		binary.LittleEndian.PutUint16(b[dataAt+6:], c.size)
		_, err := open(t, b).Blocks().Next()
		var e *perfdata.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Offset != int64(dataAt) {
			t.Errorf("%s: %v, want %q at %#x", c.name, err, c.want, dataAt)
		}
	}
}

// A payload behind an AUXTRACE record is passed through and never taken for
// records, wherever the blocks end.
func TestBlocks_AuxtracePayload(t *testing.T) {
	for _, size := range []int{0, 8, 100_000, 256 << 10, 1 << 20} {
		rec := testrec.NewRecording()
		rec.Comm(1, 100, "a", false)
		body := binary.LittleEndian.AppendUint64(nil, uint64(size))
		rec.Raw(71, 0, append(body, make([]byte, 32)...))
		rec.Payload(bytes.Repeat([]byte{0xfe}, size))
		rec.Comm(1, 200, "b", false)
		b := rec.Bytes()
		f := open(t, b)
		var types []perfdata.RecordType
		opaque := 0
		for r := f.Blocks(); ; {
			block, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if block.Opaque {
				opaque += len(block.Data)
			}
			for _, rec := range block.Records() {
				types = append(types, rec.Type)
			}
		}
		if len(types) != 3 || types[1] != perfdata.RecordAuxtrace || opaque != size {
			t.Errorf("%d bytes of payload: records %v, %d bytes passed through", size, types, opaque)
		}
		if !bytes.Equal(rewrite(t, f), b) {
			t.Errorf("%d bytes of payload: written again, the file differs", size)
		}
	}
}

func TestAuxtraceIndex_Moved(t *testing.T) {
	le := binary.LittleEndian
	var index []byte
	for _, v := range []uint64{2, 1000, 50, 2000, 60} {
		index = le.AppendUint64(index, v)
	}
	moved := perfdata.MapAuxtraceIndex(le, index, func(o uint64) uint64 { return o + 7 })
	for i, want := range []uint64{2, 1007, 50, 2007, 60} {
		if got := le.Uint64(moved[8*i:]); got != want {
			t.Errorf("word %d is %d, want %d", i, got, want)
		}
	}
	if le.Uint64(index[8:]) != 1000 {
		t.Error("the index itself was changed")
	}
	odd := []byte{9, 0, 0, 0, 0, 0, 0, 0, 1}
	if got := perfdata.MapAuxtraceIndex(le, odd, func(uint64) uint64 { panic("called") }); !bytes.Equal(got, odd) {
		t.Errorf("an index that is none became % x", got)
	}
}

// Blocks hold whole records, however large those are and wherever a block ends.
func TestBlocks_Boundaries(t *testing.T) {
	rec := testrec.NewRecording()
	const n = 2000
	for i := range n {
		rec.Raw(9, 2, make([]byte, 8+(i*7919)%65000))
	}
	f := open(t, rec.Bytes())
	count := 0
	end := int64(f.Header.Data.Offset)
	records(t, f, func(offset int64, r perfdata.Record) {
		if offset != end || len(r.Data) != 16+(count*7919)%65000 {
			t.Fatalf("record %d at %#x with %d bytes", count, offset, len(r.Data))
		}
		end += int64(len(r.Data))
		count++
	})
	if count != n {
		t.Errorf("%d records, want %d", count, n)
	}
}

func TestBuildIDs_OfTable(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		b := perfdata.AppendBuildID(nil, order, []byte("/a"), bytes.Repeat([]byte{1}, 20))
		b = perfdata.AppendBuildID(b, order, bytes.Repeat([]byte{'x'}, 64), []byte{2, 3})
		var names []string
		var ids [][]byte
		for e, err := range perfdata.BuildIDs(order, b) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, string(e.Filename))
			ids = append(ids, e.BuildID)
			if e.PID != -1 {
				t.Errorf("pid %d", e.PID)
			}
		}
		if len(names) != 2 || names[0] != "/a" || names[1] != strings.Repeat("x", 64) || !bytes.Equal(ids[1], []byte{2, 3}) {
			t.Errorf(`got %q, % x; want 2 names, names[0] = "/a", names[1] = %v, ids[1] equal to % x`, names, ids, strings.Repeat("x", 64), []byte{2, 3})
		}
		for cut := 1; cut < len(b); cut++ {
			for _, err := range perfdata.BuildIDs(order, b[:cut]) {
				_ = err
			}
		}
	}
}

// A sample is short if a field of fixed size is missing; with several events, if it is too short
// for all of them.
func TestLayouts_ShortSample(t *testing.T) {
	rec := testrec.NewRecording()
	rec.Sample(1, 100, 0x1000)
	rec.Raw(9, 2, make([]byte, 24))
	b := rec.Bytes()
	f, err := perfdata.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	block, err := f.Blocks().Next()
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, rec := range block.Records() {
		got = append(got, ls.IsShortSample(rec))
	}
	if want := []bool{false, true}; !slices.Equal(got, want) {
		t.Errorf("got short samples %v; want %v", got, want)
	}
}
