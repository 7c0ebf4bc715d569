package perfdata_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

func readRecording(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testrec.Unpack(t, name), "perf.data"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t testing.TB, b []byte) *perfdata.File {
	t.Helper()
	f, err := perfdata.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// records calls each for every record of the data section.
func records(t testing.TB, f *perfdata.File, each func(offset int64, rec perfdata.Record)) {
	t.Helper()
	for r := f.Blocks(); ; {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for pos, rec := range b.Records() {
			each(b.Offset+int64(pos), rec)
		}
	}
}

// What perf recorded, counted by perf report --stats.
func TestOpen_CountsLikePerf(t *testing.T) {
	for _, c := range []struct {
		name                             string
		total, sample, mmap2, comm, fork int
		firstTime, lastTime              uint64 // of samples: perf report --header-only, in microseconds
		marker                           string
		markerPID                        uint32
	}{
		{name: "node-fp", total: 1058, sample: 1020, mmap2: 15, comm: 2, fork: 6, firstTime: 4589579019, lastTime: 4590161526,
			marker: "/tmp/rec/node-fp/jit-9906.dump", markerPID: 9906},
		{name: "erlang", total: 425, sample: 306, mmap2: 41, comm: 25, fork: 22, firstTime: 4598594231, lastTime: 4599882624,
			marker: "/tmp/jit-10050.dump", markerPID: 10050},
		{name: "php", total: 270, sample: 216, mmap2: 43, comm: 2, fork: 0, firstTime: 4600785771, lastTime: 4601033002,
			marker: "/tmp/jit-10085.dump", markerPID: 10085},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, readRecording(t, c.name))
			if len(f.Attrs) != 1 || len(f.Attrs[0].IDs) != 2 || f.Header.AttrSize != 128+16 {
				t.Fatalf("%d attrs of %d bytes", len(f.Attrs), f.Header.AttrSize)
			}
			a := &f.Attrs[0]
			if id, ok := a.ClockID(); !ok || id != perfdata.ClockMonotonic {
				t.Errorf("clock %d, %v", id, ok)
			}
			if want := perfdata.FieldIP | perfdata.FieldTID | perfdata.FieldTime | perfdata.FieldCallchain | perfdata.FieldPeriod; a.SampleType() != want {
				t.Errorf("sample type %#x, want %#x", a.SampleType(), want)
			}
			if a.Type() != 1 || a.Config() != 0 || !a.Has(perfdata.FlagSampleIDAll) || !a.Has(perfdata.FlagMmap2) {
				t.Errorf("the attr is not that of cpu-clock: % x", a.Raw)
			}
			ls, err := perfdata.NewLayouts(f.Header.Order, f.Attrs)
			if err != nil {
				t.Fatal(err)
			}
			count := make(map[perfdata.RecordType]int)
			total := 0
			var first, last uint64
			marked := false
			records(t, f, func(_ int64, rec perfdata.Record) {
				count[rec.Type]++
				total++
				time, ok := ls.Time(rec)
				if rec.Type == perfdata.RecordSample {
					if !ok {
						t.Fatal("a sample without time")
					}
					if first == 0 || time < first {
						first = time
					}
					last = max(last, time)
				}
				if rec.Type == perfdata.RecordMmap2 {
					m, err := ls.Mmap(rec)
					if err != nil {
						t.Fatal(err)
					}
					marked = marked || string(m.Filename) == c.marker && m.PID == c.markerPID
				}
			})
			if total != c.total || count[perfdata.RecordSample] != c.sample || count[perfdata.RecordMmap2] != c.mmap2 ||
				count[perfdata.RecordComm] != c.comm || count[perfdata.RecordFork] != c.fork {
				t.Errorf("%d records: %v", total, count)
			}
			if first/1000 != c.firstTime || last/1000 != c.lastTime {
				t.Errorf("samples from %d to %d ns", first, last)
			}
			if !marked {
				t.Errorf("no mapping of %s", c.marker)
			}
		})
	}
}

// memory is a file in memory.
type memory struct{ b []byte }

func (m *memory) Write(p []byte) (int, error) { m.b = append(m.b, p...); return len(p), nil }
func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	return copy(m.b[off:], p), nil
}

// rewrite copies a file through reader and writer.
func rewrite(t testing.TB, f *perfdata.File) []byte {
	t.Helper()
	var out memory
	w, err := perfdata.NewWriter(&out, f)
	if err != nil {
		t.Fatal(err)
	}
	for r := f.Blocks(); ; {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(f.Features); err != nil {
		t.Fatal(err)
	}
	return out.b
}

// A file of perf's that is read and written without changes is the same file.
func TestRewrite_IsIdentity(t *testing.T) {
	for _, name := range testrec.Names {
		in := readRecording(t, name)
		if out := rewrite(t, open(t, in)); !bytes.Equal(out, in) {
			t.Errorf("%s: written again, it differs", name)
		}
	}
}

// The build-id table of a real recording, as perf buildid-list prints it.
func TestBuildIDs_LikePerf(t *testing.T) {
	f := open(t, readRecording(t, "node-fp"))
	table, err := f.Feature(perfdata.FeatureBuildID).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]string)
	for e, err := range perfdata.BuildIDs(f.Header.Order, table) {
		if err != nil {
			t.Fatal(err)
		}
		names[string(e.Filename)] = hex.EncodeToString(e.BuildID)
	}
	perf := testrec.Tool(t, "perf")
	dir := testrec.Unpack(t, "node-fp")
	out := testrec.Run(t, dir, perf, "buildid-list", "-i", "perf.data")
	lines := 0
	for line := range bytes.Lines([]byte(out)) {
		id, name, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if names[string(name)] != string(id) {
			t.Errorf("%s has build id %s, perf says %s", name, names[string(name)], id)
		}
		lines++
	}
	if lines == 0 || lines != len(names) {
		t.Errorf("perf lists %d build ids, there are %d", lines, len(names))
	}
}
