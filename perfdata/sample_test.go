package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

const (
	markUser     = ^uint64(512) + 1
	markDeferred = ^uint64(640) + 1
)

// everything is a sample with all that a sample can have.
func everything(order testrec.Order, sampleType uint64) (*testrec.Recording, testrec.Touch) {
	rec := testrec.NewRecording()
	rec.Order, rec.SampleType = order, sampleType
	rec.Registers = 0x8001
	s := testrec.Touch{
		PID: 5, Time: 400, IP: 0x101, Addr: 0x102,
		Chain: []uint64{markUser, 0x103, 0x104, markDeferred, 0xc00c1e}, Raw: bytes.Repeat([]byte{0x55}, 12),
		Branches: [][2]uint64{{0x105, 0x106}, {0x107, 0x108}}, ABI: 2, User: []uint64{0x109, 0x10a}, Intr: []uint64{0x10b, 0x10c},
		Aux: make([]byte, 16),
	}
	for w := range uint64(3) {
		s.Stack = order.AppendUint64(s.Stack, 0x200+w)
	}
	return rec, s
}

// decode decodes the last record of a recording.
func decode(t *testing.T, rec *testrec.Recording, want perfdata.SampleType) (s perfdata.Sample, err error) {
	t.Helper()
	f := open(t, rec.Bytes())
	ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	records(t, f, func(_ int64, r perfdata.Record) { err = ls.DecodeSample(r, want, &s) })
	return s, err
}

// addrs returns what may be addresses in a sample.
func addrs(s *perfdata.Sample) (list []uint64) {
	if s.Fields&perfdata.FieldIP != 0 {
		list = append(list, s.IP)
	}
	if s.Fields&perfdata.FieldAddr != 0 {
		list = append(list, s.Addr)
	}
	for i := 0; i < len(s.Callchain); i++ {
		switch ip := s.Callchain[i]; {
		case ip == perfdata.ContextUserDeferred:
			i++
		case ip < perfdata.ContextMin:
			list = append(list, ip)
		}
	}
	for _, b := range s.Branches {
		list = append(list, b.From, b.To)
	}
	return slices.Concat(list, s.UserRegs.Values, s.IntrRegs.Values)
}

// Every field alone and all of them together, with every form of counts and
// branches: each address is found, and nothing else.
func TestDecodeSample_EveryField(t *testing.T) {
	const must = testrec.TID
	all := uint64(1<<25 - 1)
	var types []uint64
	for bit := range 25 {
		types = append(types, must|1<<bit, all&^(1<<bit)|must)
	}
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		for _, sampleType := range append(types, all) {
			for form := uint64(testrec.Rounds(0, 1)); form < 32; form += uint64(testrec.Rounds(1, 6)) {
				rec, s := everything(order, sampleType)
				rec.ReadFormat = form
				rec.BranchType = form&1<<17 | form>>1&1<<19
				rec.Touch(s)
				has := func(bit uint64) bool { return sampleType&bit != 0 }
				var want []uint64
				for _, f := range []struct {
					bit   uint64
					addrs []uint64
				}{
					{testrec.IP, []uint64{0x101}}, {testrec.Addr, []uint64{0x102}}, {testrec.Callchain, []uint64{0x103, 0x104}},
					{testrec.Branches, []uint64{0x105, 0x106, 0x107, 0x108}}, {testrec.RegsUser, []uint64{0x109, 0x10a}}, {testrec.RegsIntr, []uint64{0x10b, 0x10c}},
				} {
					if has(f.bit) {
						want = append(want, f.addrs...)
					}
				}
				got, err := decode(t, rec, perfdata.AllFields)
				if err != nil || !slices.Equal(addrs(&got), want) || got.PID != 5 || got.TID != 5 || uint64(got.Fields) != sampleType {
					t.Fatalf("for %v, sample type %#x, form %d: got %+v, %v; want no error, addresses %#x, PID and TID 5, these fields", order, sampleType, form, got, err, want)
				}
				if has(testrec.Time) != (got.Time == 400) || has(testrec.StackUser) != bytes.Equal(got.UserStack.Data, s.Stack) ||
					has(testrec.Aux) != bytes.Equal(got.Aux, s.Aux) || has(testrec.Raw) != bytes.HasPrefix(got.Raw, s.Raw) {
					t.Fatalf("for %v, sample type %#x, form %d: got %+v; want Time, UserStack, Aux and Raw of %+v where the type has them", order, sampleType, form, got, s)
				}
				for bit := range 25 {
					if form != 31 && bit%8 != 5 {
						continue
					}
					part, err := decode(t, rec, 1<<bit)
					if err != nil {
						t.Fatalf("for %v, sample type %#x, form %d, field %d: unexpected error: %v", order, sampleType, form, bit, err)
					}
					checkPart(t, &part, &got, 1<<bit)
				}
			}
		}
	}
}

// checkPart compares a sample of which only one field was wanted with the whole.
func checkPart(t *testing.T, part, whole *perfdata.Sample, want perfdata.SampleType) {
	t.Helper()
	w := *whole
	want &= w.Fields
	head := perfdata.FieldIdentifier | perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldTime | perfdata.FieldAddr | perfdata.FieldID |
		perfdata.FieldStreamID | perfdata.FieldCPU | perfdata.FieldPeriod
	w.Fields &= want | head
	for _, f := range []struct {
		field perfdata.SampleType
		clear func()
	}{
		{perfdata.FieldRead, func() { w.Read = perfdata.Read{} }},
		{perfdata.FieldCallchain, func() { w.Callchain = nil }},
		{perfdata.FieldRaw, func() { w.Raw = nil }},
		{perfdata.FieldBranchStack, func() { w.Branches, w.BranchIndex = nil, 0 }},
		{perfdata.FieldRegsUser, func() { w.UserRegs = perfdata.Registers{} }},
		{perfdata.FieldStackUser, func() { w.UserStack = perfdata.Stack{} }},
		{perfdata.FieldWeight | perfdata.FieldWeightStruct, func() { w.Weight = 0 }},
		{perfdata.FieldDataSrc, func() { w.DataSrc = 0 }},
		{perfdata.FieldTransaction, func() { w.Transaction = 0 }},
		{perfdata.FieldRegsIntr, func() { w.IntrRegs = perfdata.Registers{} }},
		{perfdata.FieldPhysAddr, func() { w.PhysAddr = 0 }},
		{perfdata.FieldCgroup, func() { w.Cgroup = 0 }},
		{perfdata.FieldDataPageSize, func() { w.DataPageSize = 0 }},
		{perfdata.FieldCodePageSize, func() { w.CodePageSize = 0 }},
		{perfdata.FieldAux, func() { w.Aux = nil }},
	} {
		if f.field&want == 0 {
			f.clear()
		}
	}
	if got, want := fmt.Sprintf("%+v", *part), fmt.Sprintf("%+v", w); got != want {
		t.Fatalf("a part is %s\nwant %s", got, want)
	}
}

func TestDecodeDeferred_Callchain(t *testing.T) {
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		rec := testrec.NewRecording()
		rec.Order = order
		rec.Deferred(7, 500, 0xc00c1e, markUser, 0x1000, 0x2000)
		f := open(t, rec.Bytes())
		ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
		if err != nil {
			t.Fatal(err)
		}
		records(t, f, func(_ int64, r perfdata.Record) {
			var got perfdata.DeferredCallchain
			err := ls.DecodeDeferred(r, &got)
			if err != nil || got.Cookie != 0xc00c1e || !slices.Equal(got.Callchain, []uint64{markUser, 0x1000, 0x2000}) {
				t.Errorf("for %v: got %+v, %v; want no error, Cookie = 0xc00c1e, Callchain equal to %+v", order, got, err, []uint64{markUser, 0x1000, 0x2000})
			}
			if id, ok := ls.SampleID(r); !ok || id.PID != 7 || id.Time != 500 {
				t.Errorf("for %v: got id %+v, %v; want PID 7, time 500", order, id, ok)
			}
			for n := 8; n < len(r.Data); n++ {
				if err := ls.DecodeDeferred(perfdata.Record{Type: r.Type, Data: r.Data[:n]}, &got); err == nil {
					t.Errorf("for %v: got no error with %d of %d bytes; want one", order, n, len(r.Data))
				}
			}
		})
	}
}

// What cannot be read is refused, and said so.
func TestDecodeSample_Refused(t *testing.T) {
	set := func(f func(*testrec.Recording, *testrec.Touch)) *testrec.Recording {
		rec, s := everything(binary.LittleEndian, 1<<25-1)
		f(rec, &s)
		rec.Touch(s)
		return rec
	}
	for want, rec := range map[string]*testrec.Recording{
		"fields that are not known":   set(func(r *testrec.Recording, _ *testrec.Touch) { r.SampleType |= 1 << 25 }),
		"branch_sample_type 0x100000": set(func(r *testrec.Recording, _ *testrec.Touch) { r.BranchType = 1 << 20 }),
		"read_format 0x20":            set(func(r *testrec.Recording, _ *testrec.Touch) { r.ReadFormat = 1 << 5 }),
		"registers.abi at offset":     set(func(_ *testrec.Recording, s *testrec.Touch) { s.ABI = 4 }),
	} {
		got, err := decode(t, rec, perfdata.AllFields)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if at := (*perfdata.Error)(nil); errors.As(err, &at) == errors.Is(err, perfdata.ErrUnknownFields) {
			t.Errorf("got %v; want either an Error or ErrUnknownFields", err)
		}
		if got.PID != 5 || got.IP != 0x101 {
			t.Errorf("got %+v before %v; want PID 5, IP 0x101", got, err)
		}
	}
}

// A sample that is cut anywhere, or whose counts are too large, is an error and no
// more.
func TestDecodeSample_Cut(t *testing.T) {
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		rec, s := everything(order, 1<<25-1)
		rec.ReadFormat, rec.BranchType = 31, 1<<17|1<<19
		rec.Touch(s)
		f := open(t, rec.Bytes())
		ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
		if err != nil {
			t.Fatal(err)
		}
		var got perfdata.Sample
		records(t, f, func(_ int64, r perfdata.Record) {
			for n := 8; n < len(r.Data); n++ {
				if err := ls.DecodeSample(perfdata.Record{Type: r.Type, Data: r.Data[:n]}, perfdata.AllFields, &got); err == nil {
					t.Fatalf("cut to %d of %d bytes, it is read", n, len(r.Data))
				}
			}
			for _, huge := range []uint64{1 << 16, 1 << 60, 1 << 61, 1<<61 + 1, 1<<64 - 1} {
				for at := 8; at+8 <= len(r.Data); at += 4 {
					data := bytes.Clone(r.Data)
					order.PutUint64(data[at:], huge)
					ls.DecodeSample(perfdata.Record{Type: r.Type, Data: data}, perfdata.AllFields, &got)
				}
			}
		})
	}
}

// A sample of a second event is read by that event's fields; one of no event, not at
// all.
func TestDecodeSample_SeveralEvents(t *testing.T) {
	const common = testrec.Identifier | testrec.IP | testrec.TID | testrec.Time
	var attrs []perfdata.Attr
	var samples []perfdata.Record
	for i, more := range []uint64{testrec.Callchain, testrec.Callchain | testrec.Branches, testrec.Branches} {
		rec, s := everything(binary.LittleEndian, common|more)
		rec.ID = uint64(i + 1)
		rec.Touch(s)
		f := open(t, rec.Bytes())
		if i < 2 {
			attrs = append(attrs, f.Attrs[0])
		}
		records(t, f, func(_ int64, r perfdata.Record) {
			samples = append(samples, perfdata.Record{Type: r.Type, Data: bytes.Clone(r.Data)})
		})
	}
	ls, err := perfdata.NewLayouts(binary.LittleEndian, attrs)
	if err != nil {
		t.Fatal(err)
	}
	var s perfdata.Sample
	for i, want := range [][]uint64{{0x101, 0x103, 0x104}, {0x101, 0x103, 0x104, 0x105, 0x106, 0x107, 0x108}} {
		if err := ls.DecodeSample(samples[i], perfdata.AllFields, &s); err != nil || !slices.Equal(addrs(&s), want) {
			t.Errorf("event %d: %#x, %v, want %#x", i, addrs(&s), err, want)
		}
	}
	if err := ls.DecodeSample(samples[2], perfdata.AllFields, &s); err == nil {
		t.Error("a sample of an unknown event was read")
	}
}

// Walking a recording allocates nothing.
func TestDecodeSample_Allocations(t *testing.T) {
	rec, s := everything(binary.LittleEndian, 1<<25-1)
	rec.Touch(s)
	f := open(t, rec.Bytes())
	ls, _ := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	records(t, f, func(_ int64, r perfdata.Record) {
		var got perfdata.Sample
		n := testing.AllocsPerRun(100, func() {
			ls.DecodeSample(r, perfdata.AllFields, &got)
		})
		if n > 0 {
			t.Errorf("got %v allocations for each sample; want none", n)
		}
	})
}

// In the other byte order, a recording's samples decode to the same.
func TestDecodeSample_Swapped(t *testing.T) {
	for _, name := range []string{"node-fp", "php-dwarf", "toyjit-dwarf"} {
		little := readRecording(t, name)
		big, err := testrec.Swap(little)
		if err != nil {
			t.Fatal(err)
		}
		var decoded [2]bytes.Buffer
		for i, b := range [][]byte{little, big} {
			f := open(t, b)
			ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
			if err != nil {
				t.Fatal(err)
			}
			var s perfdata.Sample
			records(t, f, func(_ int64, r perfdata.Record) {
				if r.Type != perfdata.RecordSample {
					return
				}
				if err := ls.DecodeSample(r, perfdata.AllFields, &s); err != nil {
					t.Fatal(err)
				}
				s.Raw, s.UserStack.Data = nil, s.UserStack.Data[:len(s.UserStack.Data)&^7]
				for at := range len(s.UserStack.Data) / 8 {
					word := s.UserStack.Data[8*at : 8*at+8]
					binary.LittleEndian.PutUint64(word, f.Header.Order.Uint64(word))
				}
				fmt.Fprintf(&decoded[i], "%+v\n", s)
			})
		}
		if !bytes.Equal(decoded[0].Bytes(), decoded[1].Bytes()) || decoded[0].Len() < 1000 {
			t.Errorf("%s: %d bytes of text, %d in the other order", name, decoded[0].Len(), decoded[1].Len())
		}
	}
}

// Real recordings, each with what perf prints of its samples.
func TestDecodeSample_AsPerfPrints(t *testing.T) {
	testrec.CanRecord(t)
	perf, dir := testrec.Tool(t, "perf"), t.TempDir()
	for i, options := range [][]string{
		{"-e", "cpu-clock"},
		{"-e", "cpu-clock", "-g"},
		{"-e", "cpu-clock", "-g", "-d", "--phys-data"},
		{"-e", "cpu-clock", "--intr-regs"},
		{"-e", "cpu-clock", "--call-graph", "dwarf,1024"},
		{"-e", "cpu-clock", "--call-graph", "dwarf,4096", "--intr-regs=ax,sp", "-W", "--data-page-size"},
		{"-e", "cpu-clock", "-g", "--user-regs=ip,sp,bp"},
		{"-e", "{cpu-clock,page-faults}:S", "-g"},
		{"-e", "cpu-clock", "-e", "page-faults", "-g", "--code-page-size"},
	} {
		file := fmt.Sprintf("%d.data", i)
		args := append([]string{"record", "-q", "-F", "4999", "-o", file}, options...)
		if out, err := testrec.Command(t, dir, perf, append(args, "--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")...).CombinedOutput(); err != nil {
			t.Logf("SKIPPED: perf record %v: %v: %s", options, err, out)
			continue
		}
		printed := samplesOfDump(testrec.Run(t, dir, perf, "script", "-D", "--no-inline", "-i", file))
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, b)
		ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
		if err != nil {
			t.Fatal(err)
		}
		if err := ls.CanDecode(); err != nil {
			t.Fatal(err)
		}
		n := 0
		var s perfdata.Sample
		records(t, f, func(off int64, r perfdata.Record) {
			if r.Type != perfdata.RecordSample {
				return
			}
			n++
			if err := ls.DecodeSample(r, perfdata.AllFields, &s); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%d %#x %d", s.PID, addrs(&s), len(s.UserStack.Data))
			if want := printed[off]; text != want {
				t.Fatalf("for %v: got sample at %#x:\n%s\nwant what perf prints:\n%s", options, off, text, want)
			}
		})
		if n < 10 || n != len(printed) {
			t.Errorf("for %v: got %d samples; want 10 or more, as many as perf prints: %d", options, n, len(printed))
		}
	}
}

var (
	headOfSample  = regexp.MustCompile(`(0x[0-9a-f]+) \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE\(IP, 0x[0-9a-f]+\): (\d+)/\d+: (0x[0-9a-f]+) period: \d+ addr: (\S+)`)
	entryOfChain  = regexp.MustCompile(`^\.{5} +\d+: ([0-9a-f]+)$`)
	valueOfReg    = regexp.MustCompile(`^\.{4} \S+ +(0x[0-9a-f]+)$`)
	sizeOfStack   = regexp.MustCompile(`^\.\.\. ustack: size (\d+)`)
	hasDataSource = regexp.MustCompile(`^ \. data_src:`)
)

// samplesOfDump returns, for each sample that perf script -D prints, by its offset,
// the process, the addresses and the size of the stack. perf prints an addr of 0 where
// a sample has none, so that is left out on both sides by those who compare.
func samplesOfDump(text string) map[int64]string {
	samples := make(map[int64]string)
	var at int64 = -1
	var pid string
	var addrs []uint64
	stack, hasAddr := "0", false
	end := func() {
		if at >= 0 {
			if !hasAddr {
				addrs = slices.Delete(addrs, 1, 2)
			}
			samples[at] = fmt.Sprintf("%s %#x %s", pid, addrs, stack)
		}
		at, addrs, stack, hasAddr = -1, nil, "0", false
	}
	number := func(s string) uint64 {
		n, _ := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
		return n
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := headOfSample.FindStringSubmatch(line); m != nil {
			end()
			at, pid = int64(number(m[1])), m[2]
			addrs = []uint64{number(m[3]), number(m[4])}
			continue
		}
		if m := entryOfChain.FindStringSubmatch(line); m != nil && number(m[1]) < ^uint64(4095)+1 {
			addrs = append(addrs, number(m[1]))
		} else if m := valueOfReg.FindStringSubmatch(line); m != nil {
			addrs = append(addrs, number(m[1]))
		} else if m := sizeOfStack.FindStringSubmatch(line); m != nil {
			stack = m[1]
		} else if hasDataSource.MatchString(line) {
			hasAddr = true
		} else if strings.HasPrefix(line, " ... thread") {
			end()
		}
	}
	return samples
}

// SampleChain reads what DecodeSample does, and no sample that has other addresses or is damaged.
func TestSampleChain_AsDecoded(t *testing.T) {
	const must = testrec.IP | testrec.TID | testrec.Time
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		for _, x := range []struct {
			fields uint64
			want   bool
		}{
			{must, true}, {must | testrec.Callchain, true}, {must | testrec.Callchain | testrec.Period, true},
			{must | testrec.Callchain | testrec.Addr, false}, {must | testrec.Callchain | testrec.StackUser | testrec.RegsUser, false},
			{must | testrec.Raw, false}, {testrec.TID | testrec.Time | testrec.Callchain, false}, {testrec.IP | testrec.TID | testrec.Callchain, false},
			{must | testrec.Callchain | 1<<25, false},
		} {
			rec, s := everything(order, x.fields)
			rec.Touch(s)
			f := open(t, rec.Bytes())
			ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
			if err != nil {
				t.Fatal(err)
			}
			records(t, f, func(_ int64, r perfdata.Record) {
				var s perfdata.Sample
				decoded := ls.DecodeSample(r, perfdata.AllFields, &s)
				h, chain, ok := ls.SampleChain(r)
				var words []byte
				for _, ip := range s.Callchain {
					words = order.AppendUint64(words, ip)
				}
				if want := (perfdata.SampleHead{IP: s.IP, PID: s.PID, TID: s.TID, Time: s.Time}); ok != x.want || ok && (decoded != nil || h != want || !bytes.Equal(chain, words)) {
					t.Errorf("for %v, sample type %#x: got %+v, %#x, %v; want %+v, %#x, %v", order, x.fields, h, chain, ok, want, words, x.want)
				}
				for n := 8; n < len(r.Data); n++ {
					cut := perfdata.Record{Type: r.Type, Misc: r.Misc, Data: r.Data[:n]}
					if _, _, ok := ls.SampleChain(cut); ok && ls.DecodeSample(cut, perfdata.AllFields, &s) != nil {
						t.Errorf("for %v, sample type %#x: got a sample of %d bytes; want none", order, x.fields, n)
					}
				}
			})
		}
	}
}
