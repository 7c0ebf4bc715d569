package callframe

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/internal/testrec"
)

// tables returns the .eh_frame of a file, and the place of it.
func tables(t *testing.T, path string) (place Place, data []byte, f *elf.File) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		testrec.Skip(t, "%v", err)
	}
	t.Cleanup(func() { f.Close() })
	s := f.Section(".eh_frame")
	if data, err = s.Data(); err != nil {
		t.Fatal(err)
	}
	return Place{Order: f.ByteOrder, AddrSize: 8, Machine: f.Machine, Addr: s.Addr, All: true}, data, f
}

func toyjit(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := testrec.UnpackTo("toyjit", dir); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "toyjit")
}

// In each row of compilers' tables, delve finds the same CFA and the same rules of all registers.
func TestReader_RowsOfDelve(t *testing.T) {
	kinds := map[RuleKind]frame.Rule{
		Undefined: frame.RuleUndefined, SameValue: frame.RuleSameVal, AtCFA: frame.RuleOffset, IsCFA: frame.RuleValOffset,
		InRegister: frame.RuleRegister, AtExpression: frame.RuleExpression, IsExpression: frame.RuleValExpression,
	}
	for _, path := range []string{toyjit(t), "/lib/x86_64-linux-gnu/libm.so.6", "/lib/x86_64-linux-gnu/libc.so.6"} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			place, data, _ := tables(t, path)
			fdes, err := frame.Parse(data, place.Order, 0, 8, place.Addr)
			if err != nil {
				t.Fatal(err)
			}
			r, n, rows := NewReader(place, data), 0, 0
			for {
				e, ok := r.Next()
				if !ok {
					break
				}
				if e.Err != nil {
					t.Fatal(e.Err)
				}
				if e.Kind != KindFDE {
					continue
				}
				i := slices.IndexFunc(fdes, func(f *frame.FrameDescriptionEntry) bool { return f.Begin() == e.Low && f.End() == e.Low+e.Size })
				if n++; i < 0 {
					t.Fatalf("delve has no FDE about %#x, %d bytes", e.Low, e.Size)
				}
				_, err := r.Rows(&r.CIEs[e.CIE], e.Instructions, e.InstrAt, e.Size, func(from, to uint64, row *Row) string {
					if from == to {
						return ""
					}
					rows++
					for _, pc := range []uint64{e.Low + from, e.Low + to - 1} {
						want, err := fdes[i].EstablishFrame(pc)
						if err != nil {
							t.Fatal(err)
						}
						if cfa := want.CFA; row.Computed != (cfa.Rule == frame.RuleExpression) || !row.Computed && (cfa.Reg != row.Reg || cfa.Offset != row.Offset) {
							t.Fatalf("%#x: %+v; delve has the CFA %+v", pc, row, cfa)
						}
						for _, s := range row.Saved {
							if rule := want.Regs[s.Reg]; rule.Rule != kinds[s.Kind] || (s.Kind == AtCFA || s.Kind == IsCFA) && rule.Offset != s.Offset {
								t.Fatalf("%#x: register %d is %+v; delve has %+v", pc, s.Reg, s.Rule, rule)
							}
						}
						if ra := want.Regs[r.CIEs[e.CIE].ReturnReg]; ra.Rule != kinds[row.Return.Kind] || ra.Offset != row.Return.Offset {
							t.Fatalf("%#x: the return address is %+v; delve has %+v", pc, row.Return, ra)
						}
						for reg, rule := range want.Regs {
							if _, found := find(row.Saved, reg); !found && rule.Rule != frame.RuleUndefined {
								t.Fatalf("%#x: no rule of register %d; delve has %+v", pc, reg, rule)
							}
						}
					}
					return ""
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if r.Err() != nil || n != len(fdes) || rows < 500 {
				t.Errorf("%d FDEs with %d rows, %v; delve has %d", n, rows, r.Err(), len(fdes))
			}
		})
	}
}

// The linker's index has the FDEs that the table has.
func TestReadHeader_IndexOfLinker(t *testing.T) {
	place, data, f := tables(t, toyjit(t))
	s := f.Section(".eh_frame_hdr")
	b, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[uint64]uint64)
	r := NewReader(place, data)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		if e.Kind == KindFDE {
			at[e.Low] = place.Addr + uint64(e.At)
		}
	}
	h := ReadHeader(place, b, s.Addr)
	if !IsHeader(b) || h.Err != nil || h.Frames != place.Addr || h.Count != uint64(len(at)) || h.Count == 0 {
		t.Fatalf("got %+v; want %d FDEs, and .eh_frame at %#x", h, len(at), place.Addr)
	}
	for range h.Count {
		if code, fde, err := h.Next(); err != nil || at[code] != fde {
			t.Errorf("FDE about %#x at %#x, %v; the table has it at %#x", code, fde, err, at[code])
		}
	}
	if _, _, err := h.Next(); err == nil {
		t.Error("an entry after the last")
	}
}

// States that a CIE remembers serve each of its FDEs.
func TestRows_StatesOfTheCIE(t *testing.T) {
	place := Place{AddrSize: 8, Machine: elf.EM_X86_64, All: true}
	cie := CIE{CodeAlign: 1, DataAlign: -8, ReturnReg: 16, Instructions: []byte{0x0c, 7, 8, 0x90, 1, 0x86, 2, 0x0a}}
	if err := place.Prepare(&cie); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var got []string
		fde := []byte{0x0b, 0x41, 0x86, 3, 0x0e, 16} // restore_state, advance 1, rbp at the CFA-24, CFA rsp+16
		if _, err := place.Rows(&cie, fde, 0, 2, func(_, _ uint64, row *Row) string {
			got = append(got, strings.TrimSpace(string(rune('0'+row.Offset/8))+" "+string(rune('0'-row.Saved[0].Offset/8))))
			return ""
		}); err != nil {
			t.Fatal(err)
		}
		if want := []string{"1 2", "2 3"}; !slices.Equal(got, want) {
			t.Errorf("CFAs and places of rbp %q, want %q", got, want)
		}
	}
}

// Hostile tables do not make rows of any size.
func TestRows_ManyRegisters(t *testing.T) {
	place := Place{AddrSize: 8, All: true}
	cie := CIE{CodeAlign: 1, DataAlign: -8, ReturnReg: 16, Instructions: []byte{0x0c, 7, 8}}
	if err := place.Prepare(&cie); err != nil {
		t.Fatal(err)
	}
	var fde []byte
	for reg := range maxSaved + 1 {
		fde = append(fde, 0x05, 0x80|byte(reg&0x7f), byte(reg>>7), 1)
	}
	for _, c := range []struct {
		all  bool
		want string
	}{{true, "more than 256 registers"}, {false, ""}} {
		place.All = c.all
		_, err := place.Rows(&cie, fde, 0, 16, func(_, _ uint64, _ *Row) string { return "" })
		if got := ""; err != nil {
			if got = err.Error(); c.want == "" || !strings.Contains(got, c.want) {
				t.Errorf("all %v: %v, want %q", c.all, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("all %v: no error, want %q", c.all, c.want)
		}
	}
}

func FuzzReader(f *testing.F) {
	dir := f.TempDir()
	if err := testrec.UnpackTo("toyjit", dir); err != nil {
		f.Fatal(err)
	}
	file, err := elf.Open(filepath.Join(dir, "toyjit"))
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	data, err := file.Section(".eh_frame").Data()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:300])
	f.Fuzz(func(t *testing.T, data []byte) {
		place := Place{Order: file.ByteOrder, AddrSize: 8, All: true}
		r, at := NewReader(place, data), -1
		for e, ok := r.Next(); ok; e, ok = r.Next() {
			if e.At <= at || e.At >= len(data) {
				t.Fatalf("an entry at %d after one at %d, of %d bytes", e.At, at, len(data))
			}
			if at = e.At; e.Kind != KindFDE || e.Err != nil {
				continue
			}
			end := uint64(0)
			r.Rows(&r.CIEs[e.CIE], e.Instructions, e.InstrAt, e.Size, func(from, to uint64, row *Row) string {
				if from != end || to < from || to > e.Size || len(row.Saved) > maxSaved {
					t.Fatalf("a row from %d to %d after one to %d, of %d bytes", from, to, end, e.Size)
				}
				end = to
				return ""
			})
		}
	})
}
