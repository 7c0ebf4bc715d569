package testrec_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

func swapped(t *testing.T, path string) []byte {
	t.Helper()
	in, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out, err := testrec.SwapFile(in)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	back, err := testrec.SwapFile(out)
	if err != nil || !bytes.Equal(back, in) {
		t.Errorf("%s: swapped twice, it differs: %v", path, err)
	}
	return out
}

// Every perf prints the same of a swapped recording: headers, records, samples.
func TestSwap_ReadByEveryPerf(t *testing.T) {
	for _, name := range testrec.Names {
		dir := testrec.Unpack(t, name)
		big := swapped(t, filepath.Join(dir, "perf.data"))
		for _, dump := range testrec.Dumps(t, dir) {
			swapped(t, dump)
		}
		if name == "node-fp" || name == "node-forks" || name == "node-hot" {
			continue // long, and nothing new in them
		}
		for _, sub := range []string{"little", "big"} {
			if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(filepath.Join(dir, "perf.data"), filepath.Join(dir, "little", "perf.data")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "big", "perf.data"), big, 0o600); err != nil {
			t.Fatal(err)
		}
		for version, perf := range testrec.Perfs(t) {
			for _, args := range [][]string{{"script", "--no-inline", "-D"}, {"report", "--header-only", "-I"}} {
				var out [2]string
				for i, sub := range []string{"little", "big"} {
					out[i] = testrec.Shown(testrec.Run(t, filepath.Join(dir, sub), perf, append(args, "-i", "perf.data")...))
				}
				if len(out[0]) < 1000 {
					t.Errorf("%s: perf %s %s prints only %q", name, version, args, out[0])
				}
				if little, big := firstDifference(out[0], out[1]); little != big {
					t.Errorf("%s: perf %s %s\nlittle-endian: %s\nbig-endian:    %s", name, version, args, little, big)
				}
			}
		}
	}
}

// firstDifference returns the lines in which two texts differ first.
func firstDifference(a, b string) (string, string) {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i], bs[i]
		}
	}
	if len(as) != len(bs) {
		return as[len(as)-1], bs[len(bs)-1]
	}
	return "", ""
}

// Records that the recordings do not have, written in both byte orders.
func TestSwap_OtherRecords(t *testing.T) {
	for _, sampleType := range []uint64{
		testrec.IP | testrec.TID | testrec.Time | testrec.Period,
		testrec.TID | testrec.Time | testrec.ID | testrec.CPU,
		testrec.Identifier | testrec.IP | testrec.TID | testrec.Time | testrec.Addr | testrec.ID | testrec.StreamID | testrec.CPU | testrec.Period,
	} {
		little, big := everyRecord(binary.LittleEndian, sampleType), everyRecord(binary.BigEndian, sampleType)
		got, err := testrec.Swap(little)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, big) {
			at := 0
			for got[at] == big[at] {
				at++
			}
			t.Errorf("sample type %#x: at %#x, % x, want % x", sampleType, at, got[at:min(at+16, len(got))], big[at:min(at+16, len(big))])
		}
	}
}

// everyRecord is a recording with one record of each type.
func everyRecord(o testrec.Order, sampleType uint64) []byte {
	r := testrec.NewRecording()
	r.Order, r.SampleType, r.StreamID = o, sampleType, 5
	r.EventTypes, r.ShortHeader, r.AttrSize = []string{"cpu-clock", "faults"}, sampleType&testrec.CPU == 0, 136
	r.Comm(7, 10, "prog", true)
	r.Fork(8, 7, 11)
	r.Mmap2(7, 12, 0x1234567890, 0x1000, 0x2000, "/a/file")
	r.Sample(7, 13, 0x1234567899)
	r.Round()
	type u16 = uint16
	type u32 = uint32
	type u64 = uint64
	for _, rec := range []struct {
		typ, misc int
		fields    []any
	}{
		{1, 2, []any{u32(1), u32(2), u64(3), u64(4), u64(5), "name\x00\x00\x00\x00"}},
		{2, 0, []any{u64(1), u64(2)}},
		{4, 0, []any{u32(1), u32(2), u32(3), u32(4), u64(5)}},
		{5, 0, []any{u64(1), u64(2), u64(3)}},
		{8, 0, []any{u32(1), u32(2), u64(3), u64(4)}},
		{10, 1 << 14, []any{u32(1), u32(2), u64(3), u64(4), u64(5), "\x14\x00\x00\x00build id of 20 bytes", u32(5), u32(2), "name\x00\x00\x00\x00"}},
		{11, 0, []any{u64(1), u64(2), u64(3)}},
		{12, 0, []any{u32(1), u32(2)}},
		{13, 0, []any{u64(1)}},
		{14, 0, nil},
		{15, 0, []any{u32(1), u32(2)}},
		{16, 0, []any{u32(1), u32(2), u64(2), u64(3), u64(4), u64(5), u64(6)}},
		{17, 0, []any{u64(1), u32(2), u16(3), u16(4), "symbol\x00\x00"}},
		{18, 0, []any{u16(1), u16(2), u32(3), "tag tag "}},
		{19, 0, []any{u64(1), "/cgroup\x00"}},
		{20, 0, []any{u64(1), u16(2), u16(2), "abcd"}},
		{21, 0, []any{u64(9)}},
		{63, 0, []any{"nobody knows it."}},

		{67, 0, []any{u32(1), "20 bytes of build id", "\x14\x00\x00\x00", "name\x00\x00\x00\x00"}},
		{69, 0, []any{u64(1), u64(2), u64(3), u64(4), u64(5)}},
		{70, 0, []any{u32(1), u32(0), u64(2), u64(3)}},
		{71, 0, []any{u64(8), u64(1), u64(2), u32(3), u32(4), u32(5), u32(0)}},
		{-1, 0, []any{"payload!"}},
		{72, 0, []any{u32(1), u32(2), u32(3), u32(4), u32(5), u32(6), u64(7), u64(8), strings.Repeat("m", 64), u32(9), u32(10)}},
		{73, 0, []any{u64(2), u64(3), "comm of 16 bytes", u64(4), "comm of 16 bytes"}},
		{74, 0, []any{u16(0), u16(2), u16(0), u16(1)}},
		{74, 0, []any{u16(1), u16(2), u16(4), u32(1), u32(2), "\x00\x00"}},
		{74, 0, []any{u16(1), u16(1), u16(8), "\x00\x00", u64(1)}},
		{74, 0, []any{u16(2), "\x01\x00", u16(1), u16(2)}},
		{76, 0, []any{u64(1), u32(2), u32(3), u64(4), u64(5), u64(6)}},
		{77, 0, []any{u64(1), u64(2)}},
		{78, 0, []any{u64(0), u64(1), "msec\x00\x00\x00\x00"}},
		{78, 0, []any{u64(1), u64(1), u64(0x3ff0000000000000)}},
		{78, 0, []any{u64(3), u64(1), u16(0), u16(1), u16(1), "\x00\x00"}},
		{79, 0, []any{u64(1), u64(2), u64(3), u64(4), u64(5), "\x01\x00\x00\x00\x00\x00\x00\x00"}},
		{80, 0, []any{u64(3), u32(8), "machine\x00"}},
		{82, 0, nil},
		{99, 0, []any{"nobody knows it."}},
	} {
		var body []byte
		for _, f := range rec.fields {
			switch f := f.(type) {
			case u16:
				body = o.AppendUint16(body, f)
			case u32:
				body = o.AppendUint32(body, f)
			case u64:
				body = o.AppendUint64(body, f)
			case string:
				body = append(body, f...)
			}
		}
		switch {
		case rec.typ < 0:
			r.Payload(body)
		case rec.typ < 64:
			r.Kernel(uint32(rec.typ), uint16(rec.misc), body, 7, 14)
		default:
			r.Raw(uint32(rec.typ), uint16(rec.misc), body)
		}
	}
	return r.Bytes()
}

// Samples with every field, and the fields in front of them.
func TestSwap_SampleWithEveryField(t *testing.T) {
	const all = 1<<25 - 1
	sample := func(o testrec.Order, flags uint64) []byte {
		r := testrec.NewRecording()
		r.Order, r.SampleType, r.ReadFormat, r.BranchType, r.Registers = o, all&^(1<<24), 4|8, 1<<17, 3
		var b []byte
		u64s := func(vs ...uint64) {
			for _, v := range vs {
				b = o.AppendUint64(b, v)
			}
		}
		u32s := func(vs ...uint32) {
			for _, v := range vs {
				b = o.AppendUint32(b, v)
			}
		}
		u64s(r.ID, 2) // identifier, ip
		u32s(3, 4)    // pid, tid
		u64s(5, 6, r.ID, 8)
		u32s(9, 0)            // cpu
		u64s(10)              // period
		u64s(2, 11, 1, 12, 2) // a group of two, each with an id
		u64s(3, 13, 14, 15)   // call chain
		u32s(12)              // raw
		b = append(b, "raw data, ok"...)
		u64s(1, 16, 17, 18, flags) // a branch
		u64s(2, 19, 20)            // two registers
		u64s(16, 21, 22, 16)       // stack
		u64s(23, 24, 25)           // weight, data source, transaction
		u64s(0)                    // no registers of the interrupt
		u64s(26, 27, 28, 29)       // physical address, cgroup, page sizes
		u64s(8)
		b = append(b, "aux data"...)
		r.Raw(9, 2, b)
		return r.Bytes()
	}
	// mispredicted, in_tx, 5 cycles, type 3: fields of 1, 1, 1, 1, 16, 4 bits
	little, big := sample(binary.LittleEndian, 1|1<<2|5<<4|3<<20), sample(binary.BigEndian, 1<<63|1<<61|5<<44|3<<40)
	if got, err := testrec.Swap(little); err != nil || !bytes.Equal(got, big) {
		t.Errorf("got %v; want no error, got equal to big\n% x\n% x", err, got, big)
	}
}
