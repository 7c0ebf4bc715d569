package stdio

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/faults"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A file system may return an error of writing only when the file is closed.
func TestClose_FailsOrWasClosed(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	restore := sys.Use(&faults.Fault{N: 1})
	ok := Close(f, &stderr)
	restore()
	if ok || !strings.Contains(stderr.String(), "the output cannot be written: ") || !strings.Contains(stderr.String(), "input/output error") {
		t.Errorf("got %v, %q; want false, and an input/output error", ok, stderr.String())
	}
	stderr.Reset()
	if !Close(f, &stderr) || stderr.Len() > 0 {
		t.Errorf("got %q for an output that was closed from the start; want nothing", stderr.String())
	}
}

// A failing writer fails from a write on.
type failing struct{ after int }

func (w *failing) Write(p []byte) (int, error) {
	if w.after--; w.after < 0 {
		return 0, errors.New("no room")
	}
	return len(p), nil
}

func TestLines_FirstErrorCounts(t *testing.T) {
	var stderr bytes.Buffer
	l := Lines{W: &failing{after: 1}}
	if l.Print("a"); !l.Written(&stderr) || stderr.Len() > 0 {
		t.Errorf("got %q; want all written", stderr.String())
	}
	l.Print("b")
	l.W = &bytes.Buffer{}
	if l.Print("c"); l.Written(&stderr) || !strings.Contains(stderr.String(), "no room") {
		t.Errorf("got %q; want the error of the second line", stderr.String())
	}
}
