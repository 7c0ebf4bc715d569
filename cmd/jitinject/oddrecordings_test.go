package main

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Recordings that are whole, although something in them is odd.

// perf record's standard error in its pipe (2>&1) is text after the last record. No record is missing.
func TestRecording_TextAfterLastRecord(t *testing.T) {
	const text = "[ perf record: Woken up 1 times to write data ]\n[ perf record: Captured and wrote 0.008 MB - ]\n"
	dir := t.TempDir()
	t.Chdir(dir)
	stagePipe(t, dir)
	stream, err := os.ReadFile("perf.pipe")
	if err != nil {
		t.Fatal(err)
	}
	quoted := `"[ perf record: Woken up 1 times to write data ]\n[ perf record: Captured and wrote 0.008 MB - ]`
	for _, c := range []struct {
		name, end string
		code      int
		want      []string
	}{
		{"text", text, exitOK, []string{"note: ", "text follows its last record", "(2>&1)", quoted, "perf record -k mono -o - PROGRAM 2>perf.log"}},
		{"cut", string(stream[len(stream)-40 : len(stream)-8]), exitIncomplete, []string{"it ends inside a record", "perf record was killed, or the output of a program is among the records (2>&1); to keep output apart: perf record -k mono -o - PROGRAM 2>perf.log"}},
		{"no text", text[:40] + "\x00", exitIncomplete, []string{"it ends inside a record"}},
	} {
		writeFile(t, "in.pipe", string(stream)+c.end)
		for _, in := range []string{"in.pipe", "-"} {
			var stdin *os.File
			if in == "-" {
				stdin = piped(t, append(slices.Clone(stream), c.end...), true)
			}
			var said strings.Builder
			code := run([]string{"jitinject", "-i", in, "-o", "out.data"}, stdin, nil, &said)
			if stdin != nil {
				io.Copy(io.Discard, stdin) // the writer is this process, and its SIGPIPE would end the next run
				stdin.Close()
			}
			if code != c.code {
				t.Errorf("%s, -i %s: got exit code %d; want %d\n%s", c.name, in, code, c.code, said.String())
			}
			for _, want := range c.want {
				if !strings.Contains(said.String(), want) {
					t.Errorf("%s, -i %s: got %s; want %q", c.name, in, said.String(), want)
				}
			}
		}
		if c.code == exitOK {
			if _, stdout, _ := verifyCommand(t, dir, "--all", "in.pipe"); !strings.Contains(stdout, "warning: text follows the last record: "+quoted) {
				t.Errorf("verify: got %s; want the text", stdout)
			}
		}
	}
}

// Output of a program among the records (2>&1) is an impossible record.
func TestRecording_TextAmongRecords(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	stagePipe(t, dir)
	stream, err := os.ReadFile("perf.pipe")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "in.pipe", string(stream)+"text\n\n\x01\x00"+string(stream[len(stream)-40:])) // its last two bytes are a record's size
	code, _, stderr := command(t, dir, "-i", "in.pipe")
	if code != exitFailed || !strings.HasPrefix(stderr, "jitinject: in.pipe: data at offset ") || !strings.Contains(stderr, "its header alone has 8; perf record was killed, or the output of a program is among the records (2>&1); to keep output apart: perf record -k mono -o - PROGRAM 2>perf.log") {
		t.Errorf("got exit code %d, %s; want the likely cause", code, stderr)
	}
}

// A perf refuses attributes in a file that are larger than its own, but reads them in a pipe.
func TestRecording_LargeAttributesInPipe(t *testing.T) {
	for _, c := range []struct {
		size int
		set  int // a byte that is not zero, or 0
		want int
	}{{128, 0, 96}, {136, 0, 96}, {144, 0, 96}, {144, 100, 104}, {136, 127, 128}, {136, 135, 136}, {144, 143, 144}, {152, 151, 152}} {
		dir := t.TempDir()
		t.Chdir(dir)
		r := functionsRecording(t, dir)
		r.AttrSize = c.size
		r.Write(t, "perf.data")
		writeStream(t, dir)
		stream, err := os.ReadFile("perf.pipe")
		if err != nil {
			t.Fatal(err)
		}
		if c.set > 0 {
			stream[16+8+c.set] = 1 // header of the pipe, header of the record
		}
		writeFile(t, "in.pipe", string(stream))
		if code, _, stderr := command(t, dir, "-i", "in.pipe", "-o", "out.data"); code != exitOK {
			t.Fatalf("%d bytes: got exit code %d\n%s", c.size, code, stderr)
		}
		f := openRecording(t, "out.data")
		for _, a := range f.Attrs {
			if own := f.Header.Order.Uint32(a.Raw[4:]); len(a.Raw) != c.want || int(own) != c.want || c.set >= 8 && a.Raw[c.set] != 1 {
				t.Errorf("%d bytes, byte %d is set: got %d bytes, which say %d; want %d, with that byte", c.size, c.set, len(a.Raw), own, c.want)
			}
		}
		if c.want > 128 { // for no older perf
			continue
		}
		for _, perf := range testrec.Perfs(t) {
			testrec.Run(t, dir, perf, "script", "-f", "-i", filepath.Join(dir, "out.data"))
		}
	}
}

// A recording without events is no damaged one. It can be copied if nothing in it needs an event.
func TestRecording_WithoutEvents(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	stageFunctions(t, dir)
	whole, err := os.ReadFile("perf.data")
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(whole[32:], 0)
	writeFile(t, "samples.data", string(whole))
	f := openRecording(t, "perf.data")
	round := binary.LittleEndian.AppendUint32(nil, uint32(perfdata.RecordFinishedRound))
	round = append(round, 0, 0, 8, 0)
	copy(whole[f.Header.Data.Offset:], round)
	binary.LittleEndian.PutUint64(whole[48:], 8)
	for i := 72; i < 104; i++ {
		whole[i] = 0
	}
	writeFile(t, "rounds.data", string(whole[:f.Header.Data.Offset+8]))
	for name, want := range map[string]struct {
		code int
		text string
	}{
		"samples.data": {exitFailed, "samples.data: the recording has no events, and its samples cannot be read without"},
		"rounds.data":  {exitOK, "note: rounds.data: the recording has no events"},
	} {
		if code, _, stderr := command(t, dir, "-i", name, "-o", "out.data"); code != want.code || !strings.Contains(stderr, want.text) {
			t.Errorf("%s: got exit code %d, %q; want %d, %q", name, code, stderr, want.code, want.text)
		}
	}
	if _, stdout, _ := verifyCommand(t, dir, "samples.data"); !strings.Contains(stdout, "the recording has no events") || strings.Contains(stdout, "recording/header") {
		t.Errorf("verify: got %s; want that there are no events", stdout)
	}
}
