package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// A program that reads the output must not take a part of it, or nothing, for all.
func TestOutput_LostOnFullDevice(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	stageFunctions(t, dir)
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if code, _, stderr := command(t, dir, "-q", "-o", "out.data"); code != exitOK {
		t.Fatalf("got exit code %d; want %d\n%s", code, exitOK, stderr)
	}
	for args, want := range map[string]int{
		"--version":       exitFailed,
		"version":         exitFailed,
		"--help":          exitFailed,
		"dump --help":     exitFailed,
		"help":            exitFailed,
		"help clean":      exitFailed,
		"help jitdump":    exitFailed,
		"help recorder":   exitFailed,
		"completion bash": exitFailed,
		"verify --rules":  exitFailed,
		"verify --explain recording/object-missing": exitFailed,
		"verify out.data":                 exitFailed,
		"dump jit-4711.dump":              exitIncomplete,
		"dump --json jit-4711.dump":       exitIncomplete,
		"-q -o again.data --summary json": exitIncomplete,
		"-q -o -":                         exitFailed,
		"clean -n out.data":               exitIncomplete,
	} {
		lostOn(t, full, args, want)
	}
	lostOn(t, full, "clean -v out.data", exitIncomplete) // removes the objects
}

// lostOn wants a command to say that its output is lost.
func lostOn(t *testing.T, full *os.File, args string, want int) {
	t.Helper()
	var stderr bytes.Buffer
	code := run(append([]string{"jitinject"}, strings.Fields(args)...), nil, full, &stderr)
	if code != want || !strings.Contains(stderr.String(), "no space left on device") {
		t.Errorf("%s: got exit code %d, %q; want %d, and that there is no space left", args, code, stderr.String(), want)
	}
}
