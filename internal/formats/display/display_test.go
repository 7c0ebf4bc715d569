package display_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/formats/display"
	"github.com/jitinject/jitinject/internal/show"
)

// Each format has what File needs of it.
func TestFormats_Complete(t *testing.T) {
	for _, f := range display.Formats() {
		if f.Name == "" || f.Show == nil || len(f.Types) == 0 && f.Directory == nil || f.Begins == nil && f.Neighbours == nil {
			t.Errorf("%q is incomplete: %+v", f.Name, f)
		}
	}
	want := len(formats.All) + 1 // recordings
	if got := len(display.Formats()); got != want {
		t.Errorf("got %d formats; want %d", got, want)
	}
}

// Messages about files that cannot be shown name all formats that could.
func TestFormats_Messages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("#!/bin/sh"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		stats bool
		want  string
	}{
		{path, false, "it is no jitdump, Mono log, XRay trace, capture of OpenJ9's metadata, core dump, V8 log, perf map or recording: it begins with 23 21 2f 62 69 6e 2f 73"},
		{path, true, "--stats counts calls, and the file is neither an XRay trace nor a Mono log"},
		{filepath.Dir(path), false, "it is a directory of an unknown kind; known are those with captures of OpenJ9's metadata, X.bin and X.json, and those of perf record, with a file called data"},
	} {
		err := show.File(io.Discard, c.path, &show.Options{Formats: display.Formats(), Stats: c.stats})
		if err == nil || err.Error() != c.want {
			t.Errorf("got the error %v, want %s", err, c.want)
		}
		if isUnknown := errors.Is(err, show.ErrUnknown); isUnknown != strings.HasPrefix(c.want, "it is no ") {
			t.Errorf("got error %v, which is ErrUnknown: %v; want the opposite", err, isUnknown)
		}
	}
}
