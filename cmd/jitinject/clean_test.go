package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// The command says what it removed, and its exit code whether something stayed.
func TestCleanCommand_SaysWhatWasRemoved(t *testing.T) {
	dir := testrec.Place(t, "php")
	if code, _, stderr := command(t, dir); code != exitOK {
		t.Fatal(stderr)
	}
	step := func(args string, want int, texts ...string) {
		t.Helper()
		code, _, stderr := command(t, dir, strings.Fields(args)...)
		if code != want {
			t.Errorf("%q: exit code %d, want %d\n%s", args, code, want, stderr)
		}
		for _, text := range texts {
			if !strings.Contains(stderr, text) {
				t.Errorf("%q says %q, want %q", args, stderr, text)
			}
		}
	}
	step("clean -n", exitOK, "perf.jit.data: 44 of 44 objects would be removed")
	step("clean --frob perf.jit.data", exitUsage, "there is no option --frob")
	step("clean nowhere.data", exitFailed, "there is no such file")
	step("clean perf.data", exitOK, "nothing to remove")
	step("clean -n perf.jit.data", exitOK, "perf.jit.data: 44 of 44 objects would be removed", "would be freed")
	objects, err := filepath.Glob(filepath.Join(dir, "jitted-*.so"))
	if err != nil || len(objects) != 44 {
		t.Fatalf("got %v, %v; want no error, 44 objects", len(objects), err)
	}
	if err := os.WriteFile(objects[0], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	step("clean perf.data perf.jit.data", exitIncomplete, "it is no ELF file", "43 of 44 objects removed", "1 was left alone")
	if err := os.Remove(objects[0]); err != nil {
		t.Fatal(err)
	}
	step("clean perf.jit.data", exitOK, "0 of 44 objects removed, 0 bytes freed; 44 were not there")
	step("clean -q perf.jit.data nowhere.data", exitFailed)
	if err := os.Remove(filepath.Join(dir, "perf.jit.data")); err != nil {
		t.Fatal(err)
	}
	step("clean", exitFailed, "perf.jit.data: there is no such file")
}

// The command removes entries of the build-id cache if asked to, and says how many.
func TestCleanCommand_BuildIDCache(t *testing.T) {
	dir := testrec.Place(t, "php")
	t.Setenv("PERF_BUILDID_DIR", "")
	t.Setenv("HOME", dir)
	unsetenv(t, "PERF_CONFIG")
	for _, option := range []string{"--buildid-cache", "--buildid-cache=own"} {
		step := func(want string, wantCode int, args ...string) string {
			t.Helper()
			code, stdout, stderr := command(t, dir, args...)
			if code != wantCode || !strings.Contains(stderr, want) {
				t.Errorf("%q: exit code %d, want %d and %q\n%s", args, code, wantCode, want, stderr)
			}
			return stdout
		}
		step("44 objects are in the build-id cache as well", exitOK, option)
		if out := step(": 44 entries of these objects would be removed, ", exitOK, "clean", "-n", option, "perf.jit.data"); strings.Count(out, "/elf\n") != 44 {
			t.Errorf("a dry run names:\n%s", out)
		}
		step(": 44 entries of these objects removed, ", exitOK, "clean", option, "perf.jit.data")
		step(": 0 entries of these objects removed, 0 bytes freed", exitOK, "clean", option, "perf.jit.data")
		step("the name is empty", exitUsage, "clean", "--buildid-cache=", "perf.jit.data")
	}
}

func TestCleanCommand_Help(t *testing.T) {
	if code, stdout, _ := command(t, t.TempDir(), "clean", "--help"); code != exitOK || !strings.Contains(stdout, "usage: jitinject clean") || !strings.Contains(stdout, "--dry-run") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
}

// The summary says how many functions were left out, or why none were.
func TestSampledOption_SaysWhatWasLeftOut(t *testing.T) {
	dir := testrec.Place(t, "php")
	code, _, stderr := command(t, dir, "--sampled")
	if code != exitOK || !strings.Contains(stderr, "10085 php         44        39      151     100 %  ") || !strings.Contains(stderr, "5 mappings") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	code, stdout, stderr := command(t, dir, "--sampled", "--summary", "json")
	if code != exitOK || !strings.Contains(stdout, `"untouched": 39`) {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// A result of jitinject alone, in place of record's, stays.
func TestCleanCommand_ResultMadeSince(t *testing.T) {
	dir := testrec.Place(t, "php")
	if err := os.MkdirAll(filepath.Join(dir, "perf.jit.files", ".jitinject"), 0o755); err != nil {
		t.Fatal(err)
	}
	command(t, dir)
	if code, _, stderr := command(t, dir, "clean"); code != exitOK || !strings.HasSuffix(stderr, ": perf.jit.files; perf.jit.data was made since, and stays\n") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// A recording that failed has no result, and leaves files. An empty directory of the same name is another's.
func TestCleanCommand_RecordWithoutAResult(t *testing.T) {
	dir := t.TempDir()
	files := filepath.Join(dir, "perf.jit.files")
	if err := os.Mkdir(files, 0o755); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, dir, "clean"); code != exitFailed || !strings.Contains(stderr, "perf.jit.data: there is no such file") {
		t.Errorf("exit code %d, want %d\n%s", code, exitFailed, stderr)
	}
	if err := os.Mkdir(filepath.Join(files, ".jitinject"), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, dir, "clean"); code != exitOK || stderr != "removed what jitinject record made: perf.jit.files\n" {
		t.Errorf("exit code %d, want %d\n%s", code, exitOK, stderr)
	}
	if _, err := os.Stat(files); err == nil {
		t.Error("the directory is still there")
	}
}
