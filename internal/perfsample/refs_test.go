package perfsample

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// everything is a sample with all that a sample can have.
func everything(order testrec.Order, sampleType uint64) (*testrec.Recording, testrec.Touch) {
	rec := testrec.NewRecording()
	rec.Order, rec.SampleType = order, sampleType
	rec.Registers = 0x8001
	s := testrec.Touch{
		PID: 5, Time: 400, IP: 0x101, Addr: 0x102,
		Chain: []uint64{perfdata.ContextUser, 0x103, 0x104, perfdata.ContextUserDeferred, 0xc00c1e}, Raw: bytes.Repeat([]byte{0x55}, 12),
		Branches: [][2]uint64{{0x105, 0x106}, {0x107, 0x108}}, ABI: 2, User: []uint64{0x109, 0x10a}, Intr: []uint64{0x10b, 0x10c},
		Aux: make([]byte, 16),
	}
	for w := range uint64(3) {
		s.Stack = order.AppendUint64(s.Stack, 0x200+w)
	}
	return rec, s
}

// read reads the last record of a recording.
func read(t *testing.T, rec *testrec.Recording) (refs Refs, check, err error) {
	t.Helper()
	data := rec.Bytes()
	f, err := perfdata.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	layouts, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	for r := f.Blocks(); ; {
		block, next := r.Next()
		if next != nil {
			return refs, Check(layouts, f.Attrs), err
		}
		for _, r := range block.Records() {
			r.Data = bytes.Clone(r.Data)
			err = refs.Read(layouts, r)
		}
	}
}

func within(r *Refs, lo, hi uint64) []uint64 { return r.Within(nil, lo, hi) }

func TestWithin_Bounds(t *testing.T) {
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		rec, s := everything(order, 1<<25-1)
		rec.Touch(s)
		refs, check, err := read(t, rec)
		if err != nil || check != nil || refs.PID != 5 || refs.TID != 5 || refs.Time != 400 || !refs.Traced || !bytes.Equal(refs.Stack(), s.Stack) {
			t.Fatalf("for %v: got %+v, %v, %v; want no errors, PID 5, TID 5, time 400, traced, stack % x", order, refs, check, err, s.Stack)
		}
		var all []uint64
		for addr := uint64(0x101); addr <= 0x10c; addr++ {
			all = append(all, addr)
			if got := within(&refs, addr, addr); !slices.Equal(got, []uint64{addr}) {
				t.Errorf("for %v: got %#x at %#x, want that address", order, got, addr)
			}
		}
		if got := within(&refs, 0, ^uint64(0)); !slices.Equal(got, all) {
			t.Errorf("for %v: got %#x, want %#x", order, got, all)
		}
	}
}

// The callchain of a sample without other addresses has its addresses, and a cookie that is none.
func TestWithin_ChainOnly(t *testing.T) {
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		rec, s := everything(order, testrec.IP|testrec.TID|testrec.Time|testrec.Callchain)
		rec.Touch(s)
		refs, _, err := read(t, rec)
		if got := within(&refs, 0, ^uint64(0)); err != nil || !slices.Equal(got, []uint64{0x101, 0x103, 0x104}) {
			t.Errorf("for %v: got %#x, %v; want 0x101, 0x103, 0x104", order, got, err)
		}
		if got := within(&refs, 0x104, 0x105); !slices.Equal(got, []uint64{0x104}) {
			t.Errorf("for %v: got %#x; want 0x104", order, got)
		}
	}
}

// Words of the stack are as long as the process's, and only those within the bounds
// are of interest, the bounds among them.
func TestStackWithin_WordsOfProcess(t *testing.T) {
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		for abi, want := range map[uint64][]uint64{2: {0x201, 0x202}, 1: {0x300, 0x301}, 0: nil} {
			rec, s := everything(order, testrec.TID|testrec.RegsUser|testrec.StackUser)
			s.ABI = abi
			if abi == 1 {
				s.Stack = nil
				for _, w := range []uint32{0x2ff, 0x300, 0x301, 0x303} {
					s.Stack = order.AppendUint32(s.Stack, w)
				}
			}
			rec.Touch(s)
			refs, _, err := read(t, rec)
			if err != nil {
				t.Fatal(err)
			}
			lo, hi := uint64(0x201), uint64(0x202)
			switch abi {
			case 1:
				lo, hi = 0x300, 0x302
			case 0:
				want = []uint64{0x201, 0x202} // without registers, words are of 8 bytes
			}
			if words := refs.StackWithin(nil, lo, hi); !slices.Equal(words, want) {
				t.Errorf("for %v, ABI %d: got words %#x, want %#x", order, abi, words, want)
			}
		}
	}
}

// A deferred callchain is all that a record refers to, even after a sample.
func TestRead_Deferred(t *testing.T) {
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		rec, s := everything(order, testrec.IP|testrec.TID|testrec.Time|testrec.Callchain|testrec.StackUser)
		rec.Touch(s)
		rec.Deferred(7, 500, 0xc00c1e, perfdata.ContextUser, 0x1000, 0x2000)
		refs, _, err := read(t, rec)
		if got := within(&refs, 0, ^uint64(0)); err != nil || !slices.Equal(got, []uint64{0x1000, 0x2000}) || refs.PID != 7 || refs.Time != 500 || refs.Stack() != nil {
			t.Errorf("for %v: got %#x, %+v, %v; want no error, got equal to %+v, refs.PID = 7, refs.Time = 500, no refs.Stack()", order, got, refs, err, []uint64{0x1000, 0x2000})
		}
	}
}

// What cannot be read is refused, before the first sample if it is of all.
func TestRead_Refused(t *testing.T) {
	for want, sampleType := range map[string]uint64{
		"fields that are not known":   1<<26 - 1,
		"do not name their processes": testrec.IP | testrec.Time,
	} {
		rec, s := everything(binary.LittleEndian, sampleType)
		rec.Touch(s)
		_, check, err := read(t, rec)
		for _, err := range []error{check, err} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	}
}

// Walking a recording allocates nothing.
func TestRead_Allocations(t *testing.T) {
	rec, s := everything(binary.LittleEndian, 1<<25-1)
	rec.Touch(s)
	data := rec.Bytes()
	f, _ := perfdata.Open(bytes.NewReader(data), int64(len(data)))
	layouts, _ := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	block, err := f.Blocks().Next()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range block.Records() {
		var refs Refs
		var list []uint64
		n := testing.AllocsPerRun(100, func() {
			refs.Read(layouts, r)
			list = refs.Within(list[:0], 0x100, 0x200)
			list = refs.StackWithin(list, 0x200, 0x300)
		})
		if n > 0 {
			t.Errorf("got %v allocations for each sample; want none", n)
		}
	}
}
