package ehframe

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/wire"
)

// An unwinding is a record of a dump, with the size of the code that it is about.
type unwinding struct {
	data             []byte
	headerSize, size uint64
}

func unwindings(t testing.TB, dump []byte) (all []unwinding) {
	t.Helper()
	le := binary.LittleEndian
	var last *unwinding
	for at := uint64(le.Uint32(dump[8:])); at+16 <= uint64(len(dump)); {
		id, size := le.Uint32(dump[at:]), uint64(le.Uint32(dump[at+4:]))
		rec := dump[at : at+size]
		switch {
		case id == 4:
			n := le.Uint64(rec[16:])
			last = &unwinding{data: rec[40 : 40+n], headerSize: le.Uint64(rec[24:])}
		case id == 0 && last != nil:
			last.size = le.Uint64(rec[40:])
			all = append(all, *last)
			last = nil
		}
		at += size
	}
	return all
}

// What V8 sends is read as delve reads it, and its empty tables are none. Written
// again elsewhere, delve reads the same.
func TestCheck_TablesOfV8(t *testing.T) {
	for _, name := range []string{"node-fp", "node-dwarf"} {
		empty, full := 0, 0
		for _, path := range testrec.Dumps(t, testrec.Unpack(t, name)) {
			for _, u := range unwindings(t, dumpData(t, path)) {
				frames, header, err := Split(binary.LittleEndian, u.data, u.headerSize)
				if err != nil {
					t.Fatal(err)
				}
				if len(header) != int(u.headerSize) {
					t.Fatalf("a header of %d bytes", len(header))
				}
				if len(frames) == 0 {
					empty++
					continue
				}
				place := DefaultPlace(binary.LittleEndian, 8, 0x10000, u.size)
				place.Machine = elf.EM_X86_64
				table, err := Check(place, frames)
				if err != nil || len(table.FDEs) == 0 {
					t.Fatalf("got %+v, %v; want no error, some fdes", table, err)
				}
				full++
				want := delve(t, frames, place.Frames, place.Code)
				again := delve(t, rewrite(t, table, 0x7f0000000000, 0x7f0000400000), 0x7f0000400000, 0x7f0000000000)
				if !slices.Equal(again, want) || len(table.FDEs) != len(want) {
					t.Fatalf("got %v, want %v", again, want)
				}
				for i, f := range table.FDEs {
					if f.Offset != want[i].begin || f.Size != want[i].end-want[i].begin {
						t.Fatalf("got %+v, want %v", f, want[i])
					}
				}
			}
		}
		if t.Logf("%s: %d tables, %d empty ones", name, full, empty); full == 0 || empty == 0 {
			t.Error("none of one kind")
		}
	}
}

// What delve says of an FDE: where it is in the function, and what holds at each byte.
type delveFDE struct {
	begin, end uint64
	rows       string
}

func delve(t testing.TB, frames []byte, at, code uint64) (all []delveFDE) {
	t.Helper()
	fdes, err := frame.Parse(append(slices.Clip(frames), 0, 0, 0, 0), binary.LittleEndian, 0, 8, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fdes {
		rows := ""
		for pc := f.Begin(); pc < f.End(); pc++ {
			ctx, err := f.EstablishFrame(pc)
			if err != nil {
				t.Fatal(err)
			}
			rows += fmt.Sprintln(ctx.CFA, ctx.Regs)
		}
		all = append(all, delveFDE{f.Begin() - code, f.End() - code, rows})
	}
	return all
}

// rewrite writes a table for code that is elsewhere.
func rewrite(t testing.TB, table jitcode.FrameTable, code, at uint64) []byte {
	t.Helper()
	var w dwarfgen.Frames
	w.Reset(binary.LittleEndian, 8, at)
	var ids []dwarfgen.CIEID
	for _, c := range table.CIEs {
		ids = append(ids, w.AddCIE(dwarfgen.CIE{CodeAlign: c.CodeAlign, DataAlign: c.DataAlign, ReturnReg: c.ReturnReg, Signal: c.Signal, Instructions: c.Instructions}))
	}
	for _, f := range table.FDEs {
		w.AddFDE(ids[f.CIE], dwarfgen.FDE{Low: code + f.Offset, High: code + f.Offset + f.Size, Instructions: f.Instructions})
	}
	s, err := w.Section()
	if err != nil {
		t.Fatal(err)
	}
	return s.Data
}

// A maker writes tables by hand, as producers do.
type maker struct {
	wire.Buffer
	place Place
}

func newMaker(order binary.ByteOrder, addrSize int) *maker {
	m := &maker{place: DefaultPlace(order, addrSize, 0x4000, 0x100)}
	m.Reset(order)
	return m
}

// cie writes a CIE with an augmentation and its data.
func (m *maker) cie(version uint8, augmentation string, data ...byte) {
	m.Prefixed32(func() {
		m.U32(0)
		m.U8(version)
		m.CString(augmentation)
		m.Uleb(1)
		m.Sleb(-8)
		m.U8(16)
		if augmentation != "" {
			m.Uleb(uint64(len(data)))
			m.Bytes(data)
		}
		m.Bytes([]byte{0x0c, 7, 8, 0x90, 1}) // def_cfa rsp+8; offset ra
		m.Zeros(3)
	})
}

// fde writes an FDE with pointers of four bytes, relative to where they stand.
func (m *maker) fde(cieAt int, code, size uint64, augmented []byte, instructions ...byte) {
	m.Prefixed32(func() {
		m.U32(uint32(m.Len() - cieAt))
		m.U32(uint32(code - (m.place.Frames + uint64(m.Len()))))
		m.U32(uint32(size))
		m.Uleb(uint64(len(augmented)))
		m.Bytes(augmented)
		m.Bytes(instructions)
		m.Zeros(3)
	})
}

// Every kind of table that is accepted.
func TestCheck_ValidTables(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, size := range []int{4, 8} {
			for name, make := range map[string]func(m *maker){
				"zR":  func(m *maker) { m.cie(1, "zR", 0x1b); m.fde(0, 0x4000, 0x100, nil, 0x41, 0x0e, 16) },
				"v3":  func(m *maker) { m.cie(3, "zR", 0x1b); m.fde(0, 0x4000, 0x100, nil, 0x41, 0x0e, 16) },
				"zRS": func(m *maker) { m.cie(1, "zRS", 0x1b); m.fde(0, 0x4000, 0x100, nil, 0x41, 0x0e, 16) },
				"zPLR": func(m *maker) {
					m.cie(1, "zPLR", 0x9b, 1, 2, 3, 4, 0x1b, 0x1b)
					m.fde(0, 0x4000, 0x100, []byte{9, 9, 9, 9}, 0x41, 0x0e, 16)
				},
				"zL": func(m *maker) {
					m.cie(1, "zL", 0x1b)
					m.Prefixed32(func() {
						m.U32(uint32(m.Len()))
						m.Word(0x4000, size)
						m.Word(0x100, size)
						m.Bytes([]byte{4, 1, 2, 3, 4, 0x41, 0x0e, 16})
					})
				},
				"plain": func(m *maker) {
					m.cie(1, "")
					m.Prefixed32(func() {
						m.U32(uint32(m.Len()))
						m.Word(0x4000, size)
						m.Word(0x100, size)
						m.Bytes([]byte{0x41, 0x0e, 16})
					})
				},
				"zRB": func(m *maker) { m.cie(1, "zRB", 0x1b); m.fde(0, 0x4000, 0x100, nil, 0x41, 0x0e, 16) },
				"zRG": func(m *maker) { m.cie(1, "zRG", 0x1b); m.fde(0, 0x4000, 0x100, nil, 0x41, 0x0e, 16) },
				"zPR": func(m *maker) { m.cie(1, "zPR", 0xff, 0x1b); m.fde(0, 0x4000, 0x100, nil, 0x41, 0x0e, 16) },
				"eh": func(m *maker) {
					m.Prefixed32(func() {
						m.U32(0)
						m.U8(1)
						m.CString("eh")
						m.Word(0x1234, size)
						m.Uleb(1)
						m.Sleb(-8)
						m.Bytes([]byte{16, 0x0c, 7, 8, 0x90, 1})
					})
					m.Prefixed32(func() {
						m.U32(uint32(m.Len()))
						m.Word(0x4000, size)
						m.Word(0x100, size)
						m.Bytes([]byte{0x41, 0x0e, 16})
					})
				},
				"bytes after it": func(m *maker) { m.cie(1, "zR", 0x1b); m.fde(0, 0x4000, 0x100, nil, 0x41, 0x0e, 16); m.U32(0); m.U32(7) },
				"extended": func(m *maker) {
					m.cie(1, "zR", 0x1b)
					m.fde(0, 0x4000-16, 0x100, nil, 0x41, 0x0e, 16) // 16 bytes of two lengths come before it
					m.Data = extended(order, m.Data)
				},
				"padded":     func(m *maker) { m.cie(1, "zR", 0x1b); m.fde(0, 0x4000, 0x100, nil, 0x41, 0x0e, 16); m.Zeros(3) },
				"elsewhere":  func(m *maker) { m.cie(1, "zR", 0x1b); m.fde(0, 0x123000, 0x100, nil, 0x41, 0x0e, 16) },
				"terminator": func(m *maker) { m.cie(1, "zR", 0x1b); m.fde(0, 0x4000, 0x100, nil, 0x41, 0x0e, 16); m.Zeros(12) },
			} {
				m := newMaker(order, size)
				make(m)
				table, err := Check(m.place, m.Data)
				if err != nil || len(table.FDEs) != 1 || table.FDEs[0].Offset != 0 || table.FDEs[0].Size != 0x100 || !bytes.Equal(table.FDEs[0].Instructions, []byte{0x41, 0x0e, 16}) || table.CIEs[0].Signal != (name == "zRS") {
					t.Errorf(`%s, %v, %d: got %+v, %v; want no error, 1 fde, table.FDEs[0].Offset = 0, table.FDEs[0].Size = 0x100, table.FDEs[0].Instructions equal to % x, table.CIEs[0].Signal = name == "zRS"`, name, order, size, table, err, []byte{0x41, 0x0e, 16})
				}
			}
		}
	}
	for _, frames := range [][]byte{nil, make([]byte, 4), make([]byte, 20)} {
		if table, err := Check(newMaker(binary.LittleEndian, 8).place, frames); err != nil || len(table.FDEs) != 0 {
			t.Errorf("%d zeros: %+v, %v", len(frames), table, err)
		}
	}
}

// extended gives each entry of a table an extended length.
func extended(order binary.ByteOrder, b []byte) (all []byte) {
	n := 0
	for ; len(b) > 0; n++ {
		size := order.Uint32(b)
		out := append([]byte{0xff, 0xff, 0xff, 0xff}, make([]byte, 8)...)
		order.PutUint64(out[4:], uint64(size))
		out = append(out, b[4:4+size]...)
		if n > 0 { // the CIE is farther away
			order.PutUint32(out[12:], order.Uint32(out[12:])+uint32(8*n+8))
		}
		all, b = append(all, out...), b[4+size:]
	}
	return all
}

// What is wrong is refused, with a sentence.
func TestCheck_InvalidTables(t *testing.T) {
	good := func(m *maker) { m.cie(1, "zR", 0x1b) }
	for want, make := range map[string]func(m *maker){
		"needs 60 bytes":              func(m *maker) { m.U32(60); m.U32(0) },
		"needs 4294967280 bytes":      func(m *maker) { m.U32(0xfffffff0); m.Zeros(20) },
		"extended length":             func(m *maker) { m.U32(0xffffffff); m.Zeros(20) },
		"no CIE begins at":            func(m *maker) { good(m); m.fde(m.Len(), 0x4000, 1, nil) }, // its own
		"no CIE begins at offset 0x2": func(m *maker) { good(m); m.fde(2, 0x4000, 1, nil) },
		"no CIE begins at offset -":   func(m *maker) { good(m); m.fde(-0x50, 0x4000, 1, nil) },
		"not in the function":         func(m *maker) { good(m); m.fde(0, 0x40f0, 0x20, nil) },
		"bytes of a function":         func(m *maker) { good(m); m.fde(0, 0x4000, 0x101, nil) },
		"0 bytes of a function":       func(m *maker) { good(m); m.fde(0, 0x4000, 0, nil) },
		"version":                     func(m *maker) { m.cie(4, "zR", 0x1b) },
		"begins with z":               func(m *maker) { m.cie(1, "R", 0x1b) },
		"X is unknown":                func(m *maker) { m.cie(1, "zX", 0x1b) },
		"neither absolute":            func(m *maker) { m.cie(1, "zR", 0x3b) },
		"the pointer encoding":        func(m *maker) { m.cie(1, "zR", 0x1f); m.fde(0, 0x4000, 1, nil) },
		"advances to byte 20 of 16":   func(m *maker) { good(m); m.fde(0, 0x4000, 16, nil, 0x40|20) },
		"0x3e is unknown":             func(m *maker) { good(m); m.fde(0, 0x4000, 16, nil, 0x3e) },
		"the third state":             func(m *maker) { m.Prefixed32(func() { m.U32(0); m.Bytes([]byte{1, 0, 1, 0x78, 16, 10, 10, 10}) }) },
		"no state is remembered":      func(m *maker) { good(m); m.fde(0, 0x4000, 16, nil, 0x0b) },
		"set_loc":                     func(m *maker) { good(m); m.fde(0, 0x4000, 16, nil, 0x01) },
		"more bytes follow it":        func(m *maker) { good(m); m.U32(0); m.U32(7) },
		"more than 64 bits": func(m *maker) {
			good(m)
			m.fde(0, 0x4000, 16, nil, 0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
		},
		"expression at offset": func(m *maker) { good(m); m.fde(0, 0x4000, 16, nil, 0x0f, 0xff, 0xff) },
		"length":               func(m *maker) { m.Bytes([]byte{1, 2}) },
		"0x2f, which jumps":    func(m *maker) { good(m); m.fde(0, 0x4000, 16, nil, 0x0f, 3, 0x2f, 0xfd, 0xff) },
		"0x28, which jumps":    func(m *maker) { good(m); m.fde(0, 0x4000, 16, nil, 0x10, 6, 5, 0x77, 0x08, 0x28, 0xfd, 0xff) },
		"0x98 is unknown":      func(m *maker) { good(m); m.fde(0, 0x4000, 16, nil, 0x16, 6, 3, 0x98, 1, 0) },
		"no rule for the return address, from byte 0": func(m *maker) {
			m.place.Machine = elf.EM_X86_64
			good(m)
			m.fde(0, 0x4000, 16, nil, 0x08, 16, 0x41, 0x90, 1)
		},
		"no rule for the return address, from byte 1": func(m *maker) {
			m.place.Machine = elf.EM_X86_64
			good(m)
			m.fde(0, 0x4000, 16, nil, 0x41, 0x08, 16)
		},
		"128, of 128": func(m *maker) { good(m); m.fde(0, 0x4000, 16, nil, 0x0c, 0x80, 1, 8) },
		"16, of 16": func(m *maker) {
			m.place.Machine = elf.EM_X86_64
			good(m)
			m.fde(0, 0x4000, 16, nil, 0x0d, 16)
		},
		"the frame has no size": func(m *maker) { good(m); m.fde(0, 0x4000, 16, nil, 0x41, 0x0e, 0, 0x90, 0) },
		"0x4 to 0x14 overlap": func(m *maker) {
			good(m)
			m.fde(0, 0x4004, 16, nil)
			m.fde(0, 0x4000, 5, nil)
		},
	} {
		m := newMaker(binary.LittleEndian, 8)
		make(m)
		if table, err := Check(m.place, m.Data); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), ".eh_frame") {
			t.Errorf(`got %+v, %v; want an error with %q that begins with ".eh_frame"`, table, err, want)
		}
	}
}

// The header is found at either end.
func TestSplit_HeaderAtEitherEnd(t *testing.T) {
	m := newMaker(binary.BigEndian, 8)
	m.cie(1, "zR", 0x1b)
	m.fde(0, 0x4000, 0x100, nil)
	header := []byte{1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8}
	for name, data := range map[string][]byte{"last": append(bytes.Clone(m.Data), header...), "first": append(bytes.Clone(header), m.Data...)} {
		f, h, err := Split(binary.BigEndian, data, uint64(len(header)))
		if err != nil || !bytes.Equal(f, m.Data) || !bytes.Equal(h, header) {
			t.Errorf("header %s: % x, % x, %v", name, f, h, err)
		}
	}
	if f, h, err := Split(binary.BigEndian, header, uint64(len(header))); err != nil || len(f) != 0 || len(h) != len(header) {
		t.Errorf("only a header: % x, %v", f, err)
	}
	for _, n := range []uint64{0, 8, 1000} {
		if _, _, err := Split(binary.BigEndian, []byte("this is no table, I say"), n); err == nil {
			t.Errorf("text with a header of %d bytes: no error", n)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, path := range testrec.Dumps(f, testrec.Unpack(f, "node-dwarf")) {
		for i, u := range unwindings(f, dumpData(f, path)) {
			if i%50 == 0 {
				f.Add(u.data, u.headerSize, u.size)
			}
		}
	}
	m := newMaker(binary.LittleEndian, 8)
	m.cie(1, "zPLR", 0x9b, 1, 2, 3, 4, 0x1b, 0x1b)
	m.fde(0, 0x4000, 0x100, []byte{9, 9, 9, 9}, 0x41, 0x0e, 16)
	f.Add(m.Data, uint64(0), uint64(0x100))
	f.Fuzz(func(t *testing.T, data []byte, headerSize, size uint64) {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			frames, _, err := Split(order, data, headerSize)
			if err != nil {
				frames = data
			}
			for _, addrSize := range []int{4, 8} {
				table, err := Check(DefaultPlace(order, addrSize, 0x4000, size), frames)
				if err != nil {
					continue
				}
				for _, d := range table.FDEs {
					if d.CIE >= len(table.CIEs) || d.Size == 0 || d.Offset >= size || d.Size > size-d.Offset {
						t.Fatalf("got %+v; want a CIE that exists, and code within %d bytes", d, size)
					}
				}
			}
		}
	})
}

func dumpData(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
