package main

import (
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
