package jitdump

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/jitdump"
)

// Two functions are the same if name, code, lines and unwind tables agree; address, time,
// thread and index do not matter.
func TestSame_OneDifference(t *testing.T) {
	type function struct {
		name   string
		code   []byte
		lines  []jitdump.DebugEntry
		unwind []byte
	}
	base := func() function {
		return function{"first", []byte{0x55, 0x48, 0x89, 0xe5, 0xc3, 0x90}, []jitdump.DebugEntry{{Addr: 0x1000, Line: 3, Name: []byte("a.js")}, {Addr: 0x1004, Line: 4, Name: []byte("a.js")}}, []byte{1, 2, 3, 4, 5, 6, 7, 8}}
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, c := range []struct {
			what   string
			change func(f *function)
			want   bool
		}{
			{"nothing", func(*function) {}, true},
			{"name", func(f *function) { f.name = "other" }, false},
			{"longer name", func(f *function) { f.name += "2" }, false},
			{"last byte of code", func(f *function) { f.code[5]++ }, false},
			{"length of code", func(f *function) { f.code = append(f.code, 0x90) }, false},
			{"bytes of code not known", func(f *function) { f.code = nil }, false},
			{"a line", func(f *function) { f.lines[1].Line++ }, false},
			{"a file", func(f *function) { f.lines[1].Name = []byte("b.js") }, false},
			{"a line less", func(f *function) { f.lines = f.lines[:1] }, false},
			{"no lines", func(f *function) { f.lines = nil }, false},
			{"unwind tables", func(f *function) { f.unwind[7]++ }, false},
			{"no unwind tables", func(f *function) { f.unwind = nil }, false},
		} {
			var out bytes.Buffer
			w, err := jitdump.NewWriter(&out, &jitdump.Header{Order: order, Version: 1, Machine: uint32(elf.EM_X86_64), PID: 7})
			if err != nil {
				t.Fatal(err)
			}
			write := func(time uint64, tid uint32, index uint64, f function) {
				records := []jitdump.Record{&jitdump.Load{PID: 7, TID: tid, VMA: 0x1000, CodeAddr: 0x1000, CodeSize: max(uint64(len(f.code)), 6), CodeIndex: index, Name: []byte(f.name), Code: f.code}}
				if f.lines != nil {
					records = slices.Insert(records, 0, jitdump.Record(jitdump.NewDebugInfo(order, 0x1000, f.lines)))
				}
				if f.unwind != nil {
					records = slices.Insert(records, 0, jitdump.Record(&jitdump.Unwinding{Data: f.unwind}))
				}
				for _, r := range records {
					if err := w.Write(time, r); err != nil {
						t.Fatal(err)
					}
				}
			}
			changed := base()
			c.change(&changed)
			write(10, 7, 1, base())
			write(20, 8, 2, changed)
			d, err := OpenFile(bytes.NewReader(out.Bytes()))
			if err == nil {
				err = d.Scan(t.Context())
			}
			if err != nil || len(d.Events) != 2 {
				t.Fatalf("%s: %d functions, want 2: %v", c.what, len(d.Events), err)
			}
			same := d.Same()
			for _, pair := range [][2]int{{0, 1}, {1, 0}} {
				if got := same(pair[0], pair[1]); got != c.want {
					t.Errorf("for %v, another %s: got that functions %v are the same: %v, want %v", order, c.what, pair, got, c.want)
				}
			}
			if !same(0, 0) || !same(1, 1) {
				t.Errorf("for %v, another %s: got a function other than itself; want the same", order, c.what)
			}
		}
	}
}
