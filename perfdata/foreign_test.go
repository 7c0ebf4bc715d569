package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Recordings of big-endian machines read as those of little-endian ones do, and
// go through unchanged.
func TestOpen_SwappedRecordings(t *testing.T) {
	for _, name := range testrec.Names {
		in := readRecording(t, name)
		swapped, err := testrec.Swap(in)
		if err != nil {
			t.Fatal(err)
		}
		little, big := open(t, in), open(t, swapped)
		if out := rewrite(t, big); !bytes.Equal(out, swapped) {
			t.Errorf("%s: swapped and written again, it differs", name)
		}
		a, b := seen(t, little), seen(t, big)
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("%s: record %d is %+v, swapped %+v", name, i, a[i], b[i])
				break
			}
		}
		if len(a) != len(b) {
			t.Errorf("%s: %d records, swapped %d", name, len(a), len(b))
		}
		for i := range little.Attrs {
			a, b := &little.Attrs[i], &big.Attrs[i]
			for flag := range perfdata.AttrFlag(64) {
				if a.Has(flag) != b.Has(flag) {
					t.Errorf("%s: flag %d of attr %d is %v, swapped %v", name, flag, i, a.Has(flag), b.Has(flag))
				}
			}
			clock, _ := a.ClockID()
			if id, ok := b.ClockID(); !ok || id != clock || a.SampleType() != b.SampleType() || a.Type() != b.Type() || a.Config() != b.Config() {
				t.Errorf("%s: attr %d is % x, swapped % x", name, i, a.Raw, b.Raw)
			}
		}
		x, y := buildIDs(t, little), buildIDs(t, big)
		if x != y || x == "" {
			t.Errorf("%s: build ids %s\nswapped %s", name, x, y)
		}
	}
}

// An observation is what this package knows of a record.
type observation struct {
	typ      perfdata.RecordType
	misc     uint16
	size     int
	time     uint64
	timed    bool
	pid, tid uint32
	name     string
	numbers  [7]uint64
}

func seen(t *testing.T, f *perfdata.File) (all []observation) {
	t.Helper()
	ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	records(t, f, func(_ int64, rec perfdata.Record) {
		o := observation{typ: rec.Type, misc: rec.Misc, size: len(rec.Data)}
		o.time, o.timed = ls.Time(rec)
		switch rec.Type {
		case perfdata.RecordMmap, perfdata.RecordMmap2:
			m, err := ls.Mmap(rec)
			if err != nil {
				t.Error(err)
			}
			o.pid, o.tid, o.name = m.PID, m.TID, string(m.Filename)+string(m.BuildID)
			o.numbers = [7]uint64{m.Addr, m.Len, m.PgOff, uint64(m.Prot), uint64(m.Flags), m.File.Inode, uint64(m.File.Major)<<32 | uint64(m.File.Minor)}
		case perfdata.RecordComm:
			c, err := ls.Comm(rec)
			if err != nil {
				t.Error(err)
			}
			o.pid, o.tid, o.name = c.PID, c.TID, string(c.Name)
		case perfdata.RecordFork, perfdata.RecordExit:
			k, err := ls.Task(rec)
			if err != nil {
				t.Error(err)
			}
			o.pid, o.tid = k.PID, k.TID
			o.numbers = [7]uint64{uint64(k.ParentPID), uint64(k.ParentTID), k.Time}
		}
		all = append(all, o)
	})
	return all
}

func buildIDs(t *testing.T, f *perfdata.File) (s string) {
	t.Helper()
	table, err := f.Feature(perfdata.FeatureBuildID).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range perfdata.BuildIDs(f.Header.Order, table) {
		if err != nil {
			t.Error(err)
		}
		s += string(e.Filename) + string(e.BuildID)
	}
	return s
}

// withFeature adds a feature to a file in either byte order, as a newer perf
// might: its bit, an entry of the table, and its content at the end.
func withFeature(order binary.ByteOrder, file []byte, id int, content []byte) []byte {
	table := order.Uint64(file[40:]) + order.Uint64(file[48:])
	word := 72 + 8*(id/64)
	n, before := uint64(0), uint64(0) // features, and those with smaller ids
	for i := range 4 {
		w := order.Uint64(file[72+8*i:])
		n += uint64(bits.OnesCount64(w))
		switch {
		case i < id/64:
			before += uint64(bits.OnesCount64(w))
		case i == id/64:
			before += uint64(bits.OnesCount64(w & (1<<(id%64) - 1)))
		}
	}
	entry := make([]byte, 16)
	order.PutUint64(entry, uint64(len(file)+16))
	order.PutUint64(entry[8:], uint64(len(content)))
	out := bytes.Clone(file[:table])
	order.PutUint64(out[word:], order.Uint64(out[word:])|1<<(id%64))
	for i := range n {
		e := bytes.Clone(file[table+16*i : table+16*i+16])
		order.PutUint64(e, order.Uint64(e)+16)
		if i == before {
			out = append(out, entry...)
		}
		out = append(out, e...)
	}
	if before == n {
		out = append(out, entry...)
	}
	out = append(out, file[table+16*n:]...)
	return append(out, content...)
}

// Features and records that nobody has heard of yet go through bit for bit, and
// perf reads the file as before.
func TestRewrite_UnknownFeaturesAndRecords(t *testing.T) {
	content := []byte("what perf 9 will want to know")
	for _, id := range []int{32, 63, 64, 200, 255} {
		for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
			rec := testrec.NewRecording()
			rec.Order = order
			rec.Comm(1, 1_000_000_000, "prog", true)
			for _, typ := range []uint32{22, 50, 85, 200, 1 << 20} {
				body := bytes.Repeat([]byte{byte(typ), 0xa5}, 20)
				if typ < 64 {
					rec.Kernel(typ, 7, body, 1, 1_500_000_000)
				} else {
					rec.Raw(typ, 7, body)
				}
			}
			rec.Sample(1, 2_000_000_000, 0x1000)
			b := withFeature(order, rec.Bytes(), id, content)
			f := open(t, b)
			if got, err := f.Feature(perfdata.FeatureID(id)).Bytes(); err != nil || !bytes.Equal(got, content) {
				t.Errorf("feature %d, %v: % x, %v", id, order, got, err)
			}
			out := rewrite(t, f)
			f = open(t, out)
			if got, err := f.Feature(perfdata.FeatureID(id)).Bytes(); err != nil || !bytes.Equal(got, content) {
				t.Errorf("feature %d, %v, written again: % x, %v", id, order, got, err)
			}
			data := func(b []byte) []byte {
				at := order.Uint64(b[40:])
				return b[at : at+order.Uint64(b[48:])]
			}
			if !bytes.Equal(data(out), data(b)) {
				t.Errorf("feature %d, %v: records differ", id, order)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "perf.data"), out, 0o600); err != nil {
				t.Fatal(err)
			}
			testrec.Run(t, dir, testrec.Tool(t, "perf"), "report", "--header-only", "-i", "perf.data")
		}
	}
}
