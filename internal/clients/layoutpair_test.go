package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A layoutPair has two results of a recording: with an object for each function, and with bundles.
type layoutPair struct {
	dir            string
	single, bundle *side
}

// A side is the result of a layout in a directory of its own, which is the home of its viewers: no
// perf finds objects of the other side in ~/.debug.
type side struct {
	dir     string // has out.data, objects and .debug
	summary *inject.Summary
	objects string // see sampled
}

func (s *side) perfData() string { return filepath.Join(s.dir, "out.data") }

// viewRecordings returns the archives of all recordings of testdata, and the archives or directories
// that JITINJECT_RECORDINGS names, separated by colons. make check takes small ones.
func viewRecordings(t *testing.T) []string {
	t.Helper()
	if os.Getenv("JITINJECT_ALL") == "" {
		t.Run("other recordings", func(t *testing.T) { testrec.Skip(t, "JITINJECT_ALL is not set") })
		return []string{testrec.Path("recordings", "toyjit.tar.zst"), testrec.Path("recordings", "lli-hot.tar.zst"), testrec.Path("recordings", "php.tar.zst"), testrec.Path("recordings", "mono.tar.zst")}
	}
	paths := matches(t, testrec.Path("recordings"), "*.tar.zst")
	if len(paths) == 0 {
		t.Fatal("got no recordings; want some")
	}
	return append(paths, filepath.SplitList(os.Getenv("JITINJECT_RECORDINGS"))...)
}

// TestBundles_ShowWhatObjectsShow compares the results of every recording that has samples in jitted code.
func TestBundles_ShowWhatObjectsShow(t *testing.T) {
	perfs := testrec.Perfs(t)
	for _, path := range viewRecordings(t) {
		name, _ := strings.CutSuffix(filepath.Base(path), ".tar.zst")
		t.Run(name, func(t *testing.T) {
			if p := pairOf(t, path); p != nil {
				p.inPerfViews(t, perfs)
				t.Run("buildid-list", func(t *testing.T) { p.withHits(t, perfs) })
				t.Run("objects", func(t *testing.T) { p.inObjects(t) })
			}
		})
	}
}

// pairOf injects a recording in both layouts. It returns nil if perf cannot read the recording as a
// file, or no sample is in jitted code.
func pairOf(t *testing.T, path string) *layoutPair {
	t.Helper()
	dir := t.TempDir()
	var err error
	if strings.HasSuffix(path, ".tar.zst") {
		err = testrec.UnpackFile(path, dir)
	} else {
		err = os.CopyFS(dir, os.DirFS(path))
	}
	if err != nil {
		t.Fatal(err)
	}
	input := filepath.Join(dir, "perf.data")
	if len(matches(t, dir, "perf.data")) > 0 {
		if err := testrec.Relocate(dir); err != nil {
			t.Fatal(err)
		}
	} else if input += ".dir"; len(matches(t, dir, "perf.data.dir")) == 0 {
		return nil // a stream, which has no bundles, or only dumps
	}
	if testrec.Command(t, dir, testrec.Tool(t, "perf"), "script", "-f", "-F", "ip", "-i", input).Run() != nil {
		return nil
	}
	p := &layoutPair{dir: dir}
	p.single, p.bundle = sideOf(t, dir, input, false), sideOf(t, dir, input, true)
	if s := p.single.summary.Samples; s == nil || s.Resolved == 0 {
		return nil
	}
	return p
}

// sideOf injects a recording with all its side files.
func sideOf(t *testing.T, dir, input string, bundle bool) *side {
	t.Helper()
	s := &side{dir: filepath.Join(dir, "single")}
	if bundle {
		s.dir = filepath.Join(dir, "bundle")
	}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	s.summary, err = inject.Run(t.Context(), inject.Options{
		Input: input, Output: s.perfData(), Objects: filepath.Join(s.dir, "objects"), Bundle: bundle,
		DumpDirs:  []string{dir},
		SideFiles: slices.Concat(sideFiles(t, dir, inject.KindMono, "*.mlpd"), sideFiles(t, dir, inject.KindXRay, "xray-log.*"), sideFiles(t, dir, inject.KindV8Log, "*v8.log")),
		CodeFrom:  matches(t, dir, "*.core"), Programs: matches(t, dir, "calls"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// matches returns the files of a directory that match a pattern.
func matches(t *testing.T, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func sideFiles(t *testing.T, dir, kind, pattern string) (all []inject.SideFile) {
	t.Helper()
	for _, path := range matches(t, dir, pattern) {
		all = append(all, inject.SideFile{Kind: kind, Path: path})
	}
	return all
}
