package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Every combination of the fields that stand in sample ids, in both byte orders,
// against recordings that another program built: times are found, names end where
// the trailer begins, and a record written here is the record written there.
func TestLayouts_EverySampleType(t *testing.T) {
	fields := []uint64{testrec.IP, testrec.TID, testrec.Time, testrec.Addr, testrec.ID, testrec.CPU, testrec.Period, testrec.StreamID, testrec.Identifier}
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		for set := range 1 << len(fields) {
			rec := testrec.NewRecording()
			rec.Order = order
			rec.SampleType = 0
			for i, f := range fields {
				if set>>i&1 != 0 {
					rec.SampleType |= f
				}
			}
			const name = "/a/name"
			rec.Comm(5, 100, "prog", true)
			rec.Mmap2(5, 200, 0x400000, 0x1000, 0x80, name)
			rec.Fork(6, 5, 300)
			rec.Sample(5, 400, 0x400010)
			checkLayout(t, rec, name)
		}
	}
}

func checkLayout(t *testing.T, rec *testrec.Recording, name string) {
	t.Helper()
	f := open(t, rec.Bytes())
	ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	timed := rec.SampleType&testrec.Time != 0
	n := 0
	records(t, f, func(_ int64, r perfdata.Record) {
		n++
		if time, ok := ls.Time(r); ok != timed || ok && time != uint64(n)*100 {
			t.Fatalf("for %v, sample type %#x: got time %d, %v of %v; want %d, %v", rec.Order, rec.SampleType, time, ok, r.Type, n*100, timed)
		}
		switch r.Type {
		case perfdata.RecordSample:
			const all = testrec.IP | testrec.TID
			want := perfdata.SampleHead{IP: 0x400010, PID: 5, TID: 5, Time: 400}
			if !timed {
				want.Time = perfdata.NoTime
			}
			if s, ok := ls.SampleHead(r); ok != (rec.SampleType&all == all) || ok && s != want {
				t.Fatalf("for %v, sample type %#x: got %+v, %v; want %+v if the type has all fields", rec.Order, rec.SampleType, s, ok, want)
			}
		case perfdata.RecordComm:
			if c, err := ls.Comm(r); err != nil || string(c.Name) != "prog" || c.PID != 5 || !c.Exec {
				t.Fatalf("for %v, sample type %#x: got %+v, %v; want prog of process 5, by exec", rec.Order, rec.SampleType, c, err)
			}
		case perfdata.RecordFork:
			if f, err := ls.Task(r); err != nil || f.PID != 6 || f.ParentPID != 5 || f.Time != 300 {
				t.Fatalf("for %v, sample type %#x: got %+v, %v; want process 6, parent 5, time 300", rec.Order, rec.SampleType, f, err)
			}
		case perfdata.RecordMmap2:
			m, err := ls.Mmap(r)
			if err != nil || string(m.Filename) != name || m.PID != 5 || m.Addr != 0x400000 || m.Len != 0x1000 || m.PgOff != 0x80 || m.Prot != 5 || m.Flags != 2 {
				t.Fatalf("for %v, sample type %#x: got %+v, %v; want %s of process 5 at 0x400000, length 0x1000, offset 0x80, prot 5, flags 2", rec.Order, rec.SampleType, m, err, name)
			}
			trailer := perfdata.TrailerOf(&f.Attrs[0])
			if b := perfdata.AppendMmap2(nil, f.Header.Order, &m, 200, &trailer); !bytes.Equal(b, r.Data) {
				t.Fatalf("for %v, sample type %#x: got written\n% x; want\n% x", rec.Order, rec.SampleType, b, r.Data)
			}
		}
	})
	if n != 4 {
		t.Fatalf("%d records, want 4", n)
	}
}

// The build id takes the place of device and inode.
func TestMmap2_WithBuildID(t *testing.T) {
	f := open(t, oneMmap(testrec.NewRecording()))
	ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	id := bytes.Repeat([]byte{0xab}, 20)
	for _, length := range []int{20, 16} {
		trailer := perfdata.TrailerOf(&f.Attrs[0])
		b := perfdata.AppendMmap2(nil, f.Header.Order, &perfdata.Mmap{PID: 1, TID: 2, Addr: 3, Len: 4, PgOff: 5, BuildID: id[:length], Filename: []byte("12345678")}, 6, &trailer)
		want := []byte{10, 0, 0, 0, 2, 0x40, 104, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, byte(length), 0, 0, 0}
		if !bytes.HasPrefix(b, want) || len(b) != 104 {
			t.Errorf("written as % x", b)
		}
		m, err := ls.Mmap(perfdata.Record{Type: perfdata.RecordMmap2, Misc: 0x4002, Data: b})
		if err != nil || !bytes.Equal(m.BuildID, id[:length]) || string(m.Filename) != "12345678" {
			t.Errorf(`got %+v, %v; want no error, BuildID equal to % x, m.Filename = "12345678"`, m, err, id[:length])
		}
	}
}

func oneMmap(r *testrec.Recording) []byte {
	r.Mmap2(1, 1000, 0x1000, 0x1000, 0, "/x")
	return r.Bytes()
}

// The attr has grown over the years; what a shorter one lacks counts as not set.
func TestAttrs_EverySize(t *testing.T) {
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		for _, size := range []int{64, 72, 80, 96, 104, 112, 120, 128, 136, 200} {
			rec := testrec.NewRecording()
			rec.Order, rec.AttrSize = order, size
			b := oneMmap(rec)
			f := open(t, b)
			if len(f.Attrs) != 1 || len(f.Attrs[0].Raw) != size || f.Attrs[0].IDs[0] != 77 {
				t.Fatalf("attr of %d bytes: %+v", size, f.Attrs)
			}
			if id, ok := f.Attrs[0].ClockID(); ok != (size >= 96) || ok && id != 1 {
				t.Errorf("attr of %d bytes: clock %d, %v", size, id, ok)
			}
			if !bytes.Equal(rewrite(t, f), b) {
				t.Errorf("for %v, attr of %d bytes: got another file after rewriting; want the same", order, size)
			}
		}
	}
}

// Two events with different fields are told apart by their ids.
func TestLayouts_SeveralEvents(t *testing.T) {
	le := binary.LittleEndian
	attr := func(sampleType uint64, id uint64) perfdata.Attr {
		rec := testrec.NewRecording()
		rec.SampleType, rec.ID = sampleType, id
		return open(t, oneMmap(rec)).Attrs[0]
	}
	a := attr(testrec.Identifier|testrec.IP|testrec.TID|testrec.Time, 1)
	b := attr(testrec.Identifier|testrec.TID|testrec.Time|testrec.CPU, 2)
	ls, err := perfdata.NewLayouts(le, []perfdata.Attr{a, b})
	if err != nil {
		t.Fatal(err)
	}
	sample := func(words ...uint64) perfdata.Record {
		data := make([]byte, 8)
		for _, w := range words {
			data = le.AppendUint64(data, w)
		}
		return perfdata.Record{Type: perfdata.RecordSample, Data: data}
	}
	if time, ok := ls.Time(sample(1, 0xaaaa, 5, 1000, 0)); !ok || time != 1000 {
		t.Errorf("first event: time %d, %v", time, ok)
	}
	if time, ok := ls.Time(sample(2, 5, 2000, 0)); !ok || time != 2000 {
		t.Errorf("second event: time %d, %v", time, ok)
	}
	if s, ok := ls.SampleHead(sample(1, 0xaaaa, 6<<32|5, 1000, 0)); !ok || s != (perfdata.SampleHead{IP: 0xaaaa, PID: 5, TID: 6, Time: 1000}) {
		t.Errorf("first event: %+v, %v", s, ok)
	}
	if s, ok := ls.SampleHead(sample(2, 5, 2000, 0)); ok {
		t.Errorf("second event, which has no IP: %+v", s)
	}
	if s, ok := ls.SampleHead(sample(1, 0xaaaa, 5)); ok {
		t.Errorf("cut: %+v", s)
	}
	if time, ok := ls.Time(sample(3, 5, 2000, 0)); ok {
		t.Errorf("unknown event: time %d", time)
	}
	if _, err := perfdata.NewLayouts(le, []perfdata.Attr{a, attr(testrec.IP|testrec.TID|testrec.ID, 2)}); err == nil {
		t.Error("ids in different places were accepted")
	}
}

// Records that perf synthesizes have time 0, those without a time all ones, its
// own none at all.
func TestLayouts_NoTime(t *testing.T) {
	rec := testrec.NewRecording()
	rec.Comm(5, 0, "prog", false)
	rec.Comm(5, math.MaxUint64, "prog", false)
	rec.Round()
	f := open(t, rec.Bytes())
	ls, _ := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	records(t, f, func(_ int64, r perfdata.Record) {
		if time, ok := ls.Time(r); ok {
			t.Errorf("got time %d of %v; want none", time, r.Type)
		}
	})
}

// The example of linux/perf_event.h, and numbers that need all 128 bits.
func TestTimeConv_128Bits(t *testing.T) {
	for _, c := range []struct {
		conv        perfdata.TimeConv
		count, want uint64
	}{
		{perfdata.TimeConv{Shift: 0, Mult: 1, Zero: 0}, 12345, 12345},
		{perfdata.TimeConv{Shift: 10, Mult: 512, Zero: 1000}, 3000, 2500},
		{perfdata.TimeConv{Shift: 31, Mult: 1 << 31, Zero: 7}, 1<<63 + 5, 1<<63 + 12},
		{perfdata.TimeConv{Shift: 70, Mult: 1 << 63, Zero: 0}, 1 << 20, 1 << 13},
		{perfdata.TimeConv{Mult: 1, Cycles: 0x1_0000_0010, Mask: 0xffff_ffff, Short: true}, 0x0000_0005, 0x2_0000_0005},
	} {
		if got := c.conv.Time(c.count); got != c.want {
			t.Errorf("for %+v of %d: got %d, want %d", c.conv, c.count, got, c.want)
		}
	}
}
