package showtest

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/display"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/testrec"
)

// File shows a file of any format of the registry.
func File(w io.Writer, path string, opts *show.Options) error {
	all := *opts
	all.Formats = display.Formats()
	return show.File(w, path, &all)
}

// Shown returns what is shown of a file. Damage is no failure.
func Shown(t testing.TB, path string, opts show.Options) string {
	t.Helper()
	var out bytes.Buffer
	err := File(&out, path, &opts)
	var damaged *show.Damaged
	if nothing := errors.Is(err, show.ErrNoMatch); nothing && out.Len() > 0 {
		t.Errorf("%s: nothing to show is %q", path, out.String())
	} else if err != nil && !nothing && !errors.As(err, &damaged) {
		t.Fatalf("%s: %v", path, err)
	}
	return out.String()
}

// Whole returns what is shown of a file that has no damage.
func Whole(t testing.TB, path string, opts show.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := File(&out, path, &opts); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out.String()
}

// Recordings are all of testdata.
func Recordings(t testing.TB) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(testrec.Path("recordings", "*.tar.zst"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, p := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(p), ".tar.zst"))
	}
	return names
}

// Dumps are the jitdumps of a recording, of which there may be none.
func Dumps(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.dump"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// Often are further recordings of known forms: for make interop.
var Often = []string{"erlang", "node-fp", "node-dwarf", "node-forks", "node-noclock", "node-pidns", "node22-dwarf", "node25-dwarf", "node25-workers"}
