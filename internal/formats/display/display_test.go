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
		if f.Name == "" || f.Show == nil || f.Begins == nil && f.Named == nil {
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
		path string
		want string
	}{
		{path, "it is no jitdump, Mono log, XRay trace, capture of OpenJ9's metadata, core dump, V8 log, perf map or recording: it begins with 23 21 2f 62 69 6e 2f 73"},
		{filepath.Dir(path), "it is a directory; name files in it. Directories of perf record are shown by perf report -D -i"},
	} {
		err := show.File(io.Discard, c.path, &show.Options{Formats: display.Formats()})
		if err == nil || err.Error() != c.want {
			t.Errorf("got the error %v, want %s", err, c.want)
		}
		if isUnknown := errors.Is(err, show.ErrUnknown); isUnknown != strings.HasPrefix(c.want, "it is no ") {
			t.Errorf("got error %v, which is ErrUnknown: %v; want the opposite", err, isUnknown)
		}
	}
}
