package plan

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// copiedFile is a recording of process 100, whose stacks are copied, with one part of a
// file mapped at several addresses, in this order.
func copiedFile(addrs ...uint64) *recording.Recording {
	rec := &recording.Recording{Processes: make(recording.Processes)}
	p := rec.Processes.Seen(100, 1)
	for i, addr := range addrs {
		p.FileMaps = append(p.FileMaps, recording.FileMap{Lo: addr, Hi: addr + 0x2000, Off: 0x5000, Time: uint64(10 * (i + 1)), Name: "/nowhere/program", File: perfdata.FileIdentity{Inode: 7}})
		p.Files.Add(addr, addr+0x2000)
	}
	return rec
}

// fileCodeOf returns the functions in files of a recording.
func fileCodeOf(rec *recording.Recording) *fileCode {
	return newFileCode(rec, recording.NewFileHistories(rec), nil)
}

// The loader's mapping is the home of code, for every copy and every address in the dump.
func TestHomeOf_CopiesInBothOrders(t *testing.T) {
	const low, high = 0x400000, 0x7f0000000000
	for _, addrs := range [][]uint64{{low, high}, {high, low}, {low, high, high + 0x10000}, {high, low, low + 0x10000}} {
		f := fileCodeOf(copiedFile(addrs...))
		for i, addr := range addrs {
			want := addrs[0] + 0x123
			if got, ok := f.homeAddr(100, 1000, addr+0x123, 0x40); !ok || got != want {
				t.Errorf("%#x: the home of %#x is %#x, %v; want %#x", addrs, addr+0x123, got, ok, want)
			}
			before := uint64(10*(i+1) - 1)
			if got, ok := f.homeAddr(100, before, addr+0x123, 0x40); ok {
				t.Errorf("%#x: before it is mapped, the home of %#x is %#x", addrs, addr+0x123, got)
			}
		}
		if got, ok := f.homeAddr(100, 1000, addrs[0]+0x1ff0, 0x40); ok {
			t.Errorf("%#x: code across the end of a mapping has the home %#x", addrs, got)
		}
		if got, ok := f.homeAddr(100, 1000, 0x10000000, 0x40); ok {
			t.Errorf("%#x: code in no file has the home %#x", addrs, got)
		}
	}
}

// Another part of the file, another file and memory over it are no copies.
func TestHomeOf_OtherMappings(t *testing.T) {
	const home, copied = 0x400000, 0x7f0000000000
	for _, c := range []struct {
		name   string
		change func(first *recording.FileMap)
		want   uint64 // for code at copied+0x100
	}{
		{"same", func(*recording.FileMap) {}, home + 0x100},
		{"part before it", func(m *recording.FileMap) { m.Off = 0x3000 }, copied + 0x100},
		{"overlapping part", func(m *recording.FileMap) { m.Off = 0x4000 }, home + 0x1100},
		{"another name", func(m *recording.FileMap) { m.Name += "2" }, copied + 0x100},
		{"another inode", func(m *recording.FileMap) { m.File.Inode++ }, copied + 0x100},
		{"another build id", func(m *recording.FileMap) { m.BuildID = "x" }, copied + 0x100},
	} {
		rec := copiedFile(home, copied)
		c.change(&rec.Processes[100].FileMaps[0])
		if got, ok := fileCodeOf(rec).homeAddr(100, 1000, copied+0x100, 0x40); !ok || got != c.want {
			t.Errorf("%s: the home is %#x, %v; want %#x", c.name, got, ok, c.want)
		}
	}
	rec := copiedFile(home, copied)
	p := rec.Processes[100]
	p.FileMaps = append(p.FileMaps, recording.FileMap{Lo: copied, Hi: copied + 0x1000, Time: 50})
	f := fileCodeOf(rec)
	for time, want := range map[uint64]bool{40: true, 60: false} {
		if _, ok := f.homeAddr(100, time, copied+0x100, 0x40); ok != want {
			t.Errorf("at %d, code is in the file: %v, want %v", time, ok, want)
		}
	}
}

// stackAttr is an event whose samples have copies of stacks.
func stackAttr(t *testing.T) perfdata.Attr {
	t.Helper()
	body := make([]byte, 8+64) // a record's header, and a perf_event_attr of version 0
	binary.LittleEndian.PutUint32(body, uint32(perfdata.RecordHeaderAttr))
	binary.LittleEndian.PutUint16(body[6:], uint16(len(body)))
	binary.LittleEndian.PutUint32(body[8+4:], 64)
	binary.LittleEndian.PutUint64(body[8+24:], uint64(perfdata.FieldStackUser))
	a, err := perfdata.HeaderAttr(binary.LittleEndian, perfdata.Record{Type: perfdata.RecordHeaderAttr, Data: body})
	if err != nil || a.SampleType() != perfdata.FieldStackUser {
		t.Fatalf("sample_type %#x, want %#x: %v", a.SampleType(), perfdata.FieldStackUser, err)
	}
	return a
}

// Code of a file that is not here is mapped at home, from its own time on, and in each copy, from the
// copy's time on, as one region. The dump may name its home or a copy.
func TestSpread_CopiesInBothOrders(t *testing.T) {
	const low, high, third = 0x400000, 0x7f0000000000, 0x7e0000000000
	for _, starts := range [][]uint64{{low, high, third}, {high, low, third}, {third, high, low}} {
		for named := range starts {
			rec := copiedFile(starts...)
			rec.Attrs = []perfdata.Attr{stackAttr(t)}
			f := fileCodeOf(rec)
			m := model.Mapping{Time: 500, PID: 100, TID: 100, Addr: starts[named] + 0x80, Len: 0x40}
			got := make(map[string]bool)
			for _, s := range f.spread(nil, m) {
				got[fmt.Sprintf("%#x+%#x at %d copied %#x", s.Addr, s.Len, s.Time, s.Of().Copied)] = true
			}
			want := map[string]bool{fmt.Sprintf("%#x+0x40 at 500 copied %#x", starts[0]+0x80, addrs.Range{}): true}
			if f.absent["/nowhere/program"] != 1 {
				t.Errorf("mapped at %#x, logged at %#x: got %v functions in absent files, want 1", starts, m.Addr, f.absent)
			}
			for i, addr := range starts[1:] {
				want[fmt.Sprintf("%#x+0x40 at %d copied %#x", addr+0x80, 10*(i+2)+1, addrs.Range{Lo: addr, Hi: addr + 0x2000})] = true
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("mapped at %#x, logged at %#x: %v, want %v", starts, m.Addr, got, want)
			}
		}
	}
}

// Many functions in many copies of a file have a bounded number of mappings.
func TestSpread_Bounded(t *testing.T) {
	const copies, functions = 400, 400
	starts := make([]uint64, copies)
	for i := range starts {
		starts[i] = uint64(i+1) << 16
	}
	rec := copiedFile(starts...)
	rec.Attrs = []perfdata.Attr{stackAttr(t)}
	f := fileCodeOf(rec)
	var all []model.Mapping
	for i := range uint64(functions) {
		all = f.spread(all, model.Mapping{Time: 5000, PID: 100, TID: 100, Addr: starts[0] + 4*i, Len: 4})
	}
	if n := len(all); n < copies || n > fewCopied+functions || !f.overflows() {
		t.Errorf("got %d mappings of %d functions in %d copies; want about %d", n, functions, copies, fewCopied)
	}
}
