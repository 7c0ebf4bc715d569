package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/faults"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Streams of an unknown kind are an error: a guess would read another recording, or write the
// result into a file in place of the pipe.
func TestStreams_FailingCall(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, c := range []struct{ args, want string }{
		{"", "cannot examine standard input: fstat: input/output error; name the recording with -i"},
		{"-i perf.data", "cannot examine standard output: fstat: input/output error; name the result with -o"},
		{"-i perf.data -o out.data", ""},
		{"-i perf.data --summary json", ""},
	} {
		var o options
		fs := newFlags(&o)
		if err := fs.Parse(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		restore := sys.Use(&faults.Fault{N: 1})
		err := o.streams(fs, r, w, io.Discard)
		restore()
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%q: got %v; want %q", c.args, err, c.want)
		}
	}
}

// Without -o, the result may go to a pipe: a note says so before the first byte. It does not go where the
// messages go, because nothing could read it there.
func TestStreams_PipeWithoutOutput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	stageFunctions(t, dir)
	const announced = "jitinject: note: the result goes to standard output, which is a pipe; for a file: -o perf.jit.data\n"
	for _, c := range []struct {
		args string
		same bool
		file bool   // the result is perf.jit.data
		said string // the beginning of the messages
	}{
		{"-i perf.data", false, false, announced},
		{"-q -i perf.data", false, false, ""},
		{"-i perf.data -o -", false, false, "process"},
		{"-i perf.data", true, true, "jitinject: note: messages go to standard output, too (2>&1), so the result goes to perf.jit.data\n"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		piped := make(chan []byte)
		go func() {
			b, _ := io.ReadAll(r)
			piped <- b
		}()
		var other bytes.Buffer
		stderr := io.Writer(&other)
		if c.same {
			stderr = w
		}
		code := run(append([]string{"jitinject"}, strings.Fields(c.args)...), nil, w, stderr)
		w.Close()
		content := <-piped
		r.Close()
		said := other.String()
		if c.same {
			said = string(content)
		}
		if code != exitOK || !strings.HasPrefix(said, c.said) || c.said == "" && said != "" {
			t.Errorf("%s: got exit code %d, %q; want 0, %q", c.args, code, said, c.said)
		}
		if is := bytes.HasPrefix(content, []byte("PERFILE2")); is == c.file {
			t.Errorf("%s: got a recording in the pipe: %v; want %v", c.args, is, !c.file)
		}
		if _, err := os.Stat("perf.jit.data"); (err == nil) != c.file {
			t.Errorf("%s: perf.jit.data: got %v; want a file: %v", c.args, err, c.file)
		}
	}
}

// perf record --switch-output adds the time to the names of the parts.
func TestInput_PartsOfSwitchOutput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	stageFunctions(t, dir)
	for i, part := range []string{"a b.data.2026112602175085", "a b.data.2026112602175202"} {
		if err := os.Link("perf.data", part); err != nil {
			t.Fatal(i, err)
		}
	}
	writeFile(t, "a b.data.old", "another file")
	want := "jitinject: a b.data: there is no such file, but parts of it from perf record --switch-output: a b.data.2026112602175085, a b.data.2026112602175202; each is a recording: jitinject -o out.data -i 'a b.data.2026112602175085'\n"
	if code, _, stderr := command(t, dir, "-i", "a b.data", "-o", "out.data"); code != exitFailed || stderr != want {
		t.Errorf("got exit code %d, %q; want %d, %q", code, stderr, exitFailed, want)
	}
	if code, _, stderr := command(t, dir, "-o", "out.data", "-i", "a b.data.2026112602175085"); code != exitOK {
		t.Errorf("a part: got exit code %d, %s", code, stderr)
	}
	if code, _, stderr := command(t, dir, "-i", "none.data"); code != exitFailed || !strings.Contains(stderr, "none.data: there is no such file; make one") {
		t.Errorf("got exit code %d, %q; want that there is no such file", code, stderr)
	}
}

// Messages have no control characters, also if a name in one was not quoted.
func TestConsole_Escapes(t *testing.T) {
	var b bytes.Buffer
	fmt.Fprintf(newConsole("jitinject", &b), "one \"%s\"\ntwo\n", "\x1b[2J\xff\u202e")
	if got, want := b.String(), `one "\x1b[2J\xff\u202e"`+"\ntwo\n"; got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}
