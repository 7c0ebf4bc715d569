package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// The forms that are no plain file: pipes, compressed records, directories.

// drain reads a stream to its end and calls each for every record.
func drain(t testing.TB, s perfdata.Stream, each func(rec perfdata.Record)) {
	t.Helper()
	pos := int64(0)
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Pos != pos {
			t.Fatalf("a block at %d of the stream, the one before ended at %d", b.Pos, pos)
		}
		pos += int64(len(b.Data))
		for _, rec := range b.Records() {
			each(rec)
		}
	}
}

// perfCounts counts the records that perf finds, by its name for them.
func perfCounts(t *testing.T, dir, input string) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	out, _ := testrec.RunBoth(t, dir, testrec.Tool(t, "perf"), "script", "-D", "-i", input)
	for line := range strings.Lines(out) {
		if _, name, ok := strings.Cut(line, ": PERF_RECORD_"); ok && !strings.HasPrefix(line, ".") {
			counts[name[:strings.IndexFunc(name, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' })]]++
		}
	}
	return counts
}

func TestOpen_CountsOfForms(t *testing.T) {
	names := map[perfdata.RecordType]string{
		perfdata.RecordSample: "SAMPLE", perfdata.RecordMmap2: "MMAP2", perfdata.RecordComm: "COMM", perfdata.RecordFork: "FORK", perfdata.RecordExit: "EXIT",
	}
	for _, c := range []struct{ recording, input string }{{"node-zstd", "perf.data"}, {"node-pipe", "perf.pipe.data"}, {"node-threads", "perf.data.dir"}} {
		dir := testrec.Unpack(t, c.recording)
		got := make(map[string]int)
		each := func(rec perfdata.Record) {
			if name, ok := names[rec.Type]; ok {
				got[name]++
			}
		}
		path := filepath.Join(dir, c.input)
		switch c.recording {
		case "node-zstd":
			drain(t, open(t, mustRead(t, path)).Blocks(), each)
		case "node-pipe":
			// One byte at a time: nothing may depend on what comes together.
			_, blocks, err := perfdata.OpenPipe(iotest.OneByteReader(bytes.NewReader(mustRead(t, path))))
			if err != nil {
				t.Fatal(err)
			}
			drain(t, blocks, each)
		case "node-threads":
			drain(t, openDir(t, path), each)
		}
		want := perfCounts(t, dir, c.input)
		for _, name := range names {
			if got[name] != want[name] || want["SAMPLE"] < 100 {
				t.Errorf("%s: %d %s records, perf finds %d", c.recording, got[name], name, want[name])
			}
		}
	}
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openDir(t testing.TB, path string) perfdata.Stream {
	t.Helper()
	d, err := perfdata.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d.Blocks()
}

// The files of a directory come out in the order of time.
func TestDir_OrderOfTime(t *testing.T) {
	path := filepath.Join(testrec.Unpack(t, "node-threads"), "perf.data.dir")
	d, err := perfdata.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ls, err := perfdata.NewLayouts(d.Header.Order, d.Attrs)
	if err != nil {
		t.Fatal(err)
	}
	s := d.Blocks()
	last, turns, file := uint64(0), 0, -1
	for {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.File != file {
			turns++
			file = b.File
		}
		for _, rec := range b.Records() {
			if time, ok := ls.Time(rec); ok {
				if time < last {
					t.Fatalf("got %v of time %d; want times that rise, after %d", rec.Type, time, last)
				}
				last = time
			}
		}
	}
	if turns < 10 {
		t.Errorf("the files took turns %d times", turns)
	}
}

// What is compressed and then unpacked is the same; perf's own records stand
// where they stood.
func TestPacker_ReadAgain(t *testing.T) {
	file := open(t, readRecording(t, "node-fp"))
	var want []string
	var packed bytes.Buffer
	p, err := perfdata.NewPacker(&packed, binary.LittleEndian, 3, []byte{68, 0, 0, 0, 0, 0, 8, 0})
	if err != nil {
		t.Fatal(err)
	}
	for r := file.Blocks(); ; {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		for _, rec := range b.Records() {
			want = append(want, string(rec.Data))
		}
		p.Write(b.Data)
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	read := func(b []byte) (recs []string, cut int64, err error) {
		stream := append([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), b...)
		_, blocks, err := perfdata.OpenPipe(bytes.NewReader(stream))
		if err != nil {
			t.Fatal(err)
		}
		for {
			block, err := blocks.Next()
			if err == io.EOF {
				return recs, blocks.Cut(), nil
			}
			if err != nil {
				return recs, blocks.Cut(), err
			}
			for _, rec := range block.Records() {
				recs = append(recs, string(rec.Data))
			}
		}
	}
	got, cut, err := read(packed.Bytes())
	i := slices.Index(got, "\x44\x00\x00\x00\x00\x00\x08\x00") // what goes in front of the first compressed one
	if err != nil || cut >= 0 || i < 0 || !slices.Equal(slices.Delete(slices.Clone(got), i, i+1), want) {
		t.Errorf("%d records, %d went in, or others; cut at %d, %v", len(got), len(want), cut, err)
	}
	for _, n := range []int{packed.Len() - 1, packed.Len() / 2} {
		if got, cut, err := read(packed.Bytes()[:n]); err != nil || cut < 0 || len(got) > len(want) {
			t.Errorf("cut at %d: %d records, cut at %d, %v", n, len(got), cut, err)
		}
	}
	bad := bytes.Clone(packed.Bytes())
	for at := 0; at < len(bad); {
		size := int(binary.LittleEndian.Uint16(bad[at+6:]))
		if binary.LittleEndian.Uint32(bad[at:]) == 81 {
			bad[at+8] ^= 0xff // the magic of zstd
			break
		}
		at += size
	}
	if _, _, err := read(bad); err == nil || !strings.Contains(err.Error(), "cannot be unpacked") {
		t.Errorf("damaged: %v", err)
	}
}

// COMPRESSED2 says how much of it is data.
func TestCompressed2_DataSize(t *testing.T) {
	var packed bytes.Buffer
	p, err := perfdata.NewPacker(&packed, binary.LittleEndian, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	rec := testrec.NewRecording()
	rec.Comm(1, 100, "compressed", true)
	comm := records1(t, open(t, rec.Bytes()))
	p.Write(comm)
	p.Flush()
	data := packed.Bytes()[8:]
	padded := (len(data) + 7) &^ 7
	le := binary.LittleEndian
	stream := []byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00")
	stream = le.AppendUint32(stream, 83)
	stream = le.AppendUint32(stream, uint32(16+padded)<<16)
	stream = le.AppendUint64(stream, uint64(len(data)))
	stream = append(stream, data...)
	stream = append(stream, make([]byte, padded-len(data))...)
	_, blocks, err := perfdata.OpenPipe(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	drain(t, blocks, func(rec perfdata.Record) { got = append(got, rec.Data...) })
	if !bytes.Equal(got, comm) {
		t.Errorf("% x, want % x", got, comm)
	}
	le.PutUint64(stream[24:], uint64(padded+8))
	_, blocks, _ = perfdata.OpenPipe(bytes.NewReader(stream))
	if _, err := blocks.Next(); err == nil || !strings.Contains(err.Error(), "does not hold as many") {
		t.Error(err)
	}
}

// records1 returns all records as they lie in the file.
func records1(t testing.TB, f *perfdata.File) (b []byte) {
	t.Helper()
	records(t, f, func(_ int64, rec perfdata.Record) { b = append(b, rec.Data...) })
	return b
}

// A pipe may be anything.
func FuzzPipe(f *testing.F) {
	b := mustRead(f, filepath.Join(testrec.Unpack(f, "node-pipe"), "perf.pipe.data"))
	f.Add(b[:6000])
	z := readRecording(f, "node-zstd")
	at := binary.LittleEndian.Uint64(z[40:])
	f.Add(append(bytes.Clone(b[:168]), z[at:at+9000]...))
	file := open(f, readRecording(f, "php"))
	preamble, err := perfdata.AppendPreamble(bytes.Clone(b[:16]), file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(preamble)
	f.Add(append(bytes.Clone(b[:168]), 66, 0, 0, 0, 0, 0, 12, 0, 5, 0, 0, 0, 1, 2, 3, 4, 5))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, err := perfdata.Open(bytes.NewReader(b), int64(len(b)))
		if err == nil {
			_, err = perfdata.NewLayouts(whole.Header.Order, whole.Attrs)
		}
		if err != nil {
			_ = err.Error()
		}
		pipe, blocks, err := perfdata.OpenPipe(bytes.NewReader(b))
		if err != nil {
			_ = err.Error()
			return
		}
		ls, _ := perfdata.NewLayouts(pipe.Header.Order, nil)
		for unpacked := 0; unpacked < 1<<20; {
			block, err := blocks.Next()
			if err != nil {
				_ = err.Error()
				return
			}
			if next, err := perfdata.NewLayouts(pipe.Header.Order, pipe.Attrs); err == nil {
				ls = next
			}
			unpacked += len(block.Data)
			for _, rec := range block.Records() {
				ls.Time(rec)
				ls.Mmap(rec)
				ls.SampleHead(rec)
			}
		}
	})
}

// The header of a pipe is in records, also of features that are unknown here. It becomes that of a file.
func TestOpen_PipeHasHeader(t *testing.T) {
	rec := testrec.NewRecording()
	rec.Comm(1, 100, "piped", true)
	made := open(t, rec.Bytes())
	le := binary.LittleEndian
	feature := func(id perfdata.FeatureID, content string) []byte {
		f := perfdata.NewFeature(id, []byte(content))
		b, err := perfdata.AppendHeaderFeature(nil, le, &f)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	stream, err := perfdata.AppendPreamble([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), &perfdata.File{Header: made.Header, Attrs: made.Attrs})
	if err != nil {
		t.Fatal(err)
	}
	stream = append(append(stream, feature(60, "unknown!")...), 66, 0, 0, 0, 0, 0, 12, 0, 8, 0, 0, 0)
	stream = append(append(stream, "tracing!"...), feature(perfdata.FeatureHostname, "late one")...)
	header := len(stream)
	stream = append(stream, records1(t, made)...)
	f, err := perfdata.Open(bytes.NewReader(stream), int64(len(stream)))
	if err != nil || !f.IsPipe || len(f.Attrs) != len(made.Attrs) || !bytes.Equal(records1(t, f), stream[header:]) {
		t.Fatalf("got %+v, %v; want the events and records of the file", f, err)
	}
	for _, id := range []perfdata.FeatureID{60, perfdata.FeatureTracingData, perfdata.FeatureHostname} {
		if !f.Header.Features.Has(id) || f.Feature(id) == nil || f.Feature(id).Content.Size() != 8 {
			t.Errorf("feature %d: got %+v; want 8 bytes", id, f.Feature(id))
		}
	}
	again, err := perfdata.AppendPreamble(bytes.Clone(stream[:16]), f)
	if err != nil || len(again) != header || !bytes.Contains(again, feature(60, "unknown!")) {
		t.Errorf("got %q, %v; want the %d bytes of the header in another order", again, err, header)
	}
}
