package judge

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakePerf writes a program that runs a shell script.
func fakePerf(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

const printSample = `printf 'app 1/2 3.000000004: cpu-clock: \n\t1f main+0x1 (/bin/app)\n\n'`

func TestScript_OptionsAndSurroundings(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	perf := fakePerf(t, `echo "$@" "home=$HOME config=$PERF_CONFIG debuginfod=$DEBUGINFOD_URLS" >`+log+"\n"+printSample)
	samples, err := Script(t.Context(), perf, "x.data", "--symfs", "/root")
	if err != nil || len(samples) != 1 || samples[0].Time != 3000000004 {
		t.Fatalf("got %v, %v, want one sample", samples, err)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	for _, want := range []string{"script -f --ns --no-inline -F " + Fields + " -i x.data --symfs /root", "config=/dev/null", "debuginfod=\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("perf ran with %q, want %q", got, want)
		}
	}
	_, home, _ := strings.Cut(got, "home=")
	home, _, _ = strings.Cut(home, " ")
	if home == os.Getenv("HOME") {
		t.Errorf("perf ran with the user's home %s", home)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", home, err)
	}
}

func TestScript_Errors(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"perf fails", printSample + "; echo no such file >&2; exit 3", "exit status 3: no such file"},
		{"perf dies within a line", printSample + `; printf 'app 1/2 4.000000004: cpu-clock: \n\t7f07'; kill -SEGV $$`, "signal: segmentation fault"},
		{"output ends within a line", printSample + `; printf 'app 1/2 4.000000004: cpu-clock: \n\t7f07'`, "a frame without an address"},
		{"not a sample", "echo nonsense; exec sleep 100", "line 1: a frame before the first sample"},
	} {
		_, err := Script(t.Context(), fakePerf(t, c.script), "x.data")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "script -f") {
			t.Errorf("%s: got %v, want the command and %q", c.name, err, c.want)
		}
	}
	if _, err := Script(t.Context(), filepath.Join(t.TempDir(), "none"), "x.data"); err == nil {
		t.Error("without perf: got no error")
	}
}

func TestScript_EndsInTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := Script(ctx, fakePerf(t, "exec sleep 100"), "x.data")
	if err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) || time.Since(begin) > 20*time.Second {
		t.Errorf("got %v after %v, want %v", err, time.Since(begin), context.DeadlineExceeded)
	}
}

func TestLines_AsksForSymbols(t *testing.T) {
	perf := fakePerf(t, `printf 'app 1/2 3.000000004: cpu-clock:  1f %s+0x1 (/bin/app)\n  a.js:7\n' "$9"`)
	samples, err := Lines(t.Context(), perf, "x.data", []string{"JS:*a b", "f(int, int)"})
	if err != nil || len(samples) != 1 || len(samples[0].Frames) != 1 || samples[0].Frames[0].Line != "a.js:7" || samples[0].Frames[0].Symbol != "JS:*a b" {
		t.Errorf("got %+v, %v, want symbol JS:*a b at a.js:7", samples, err)
	}
	if samples, err := Lines(t.Context(), perf, "x.data", []string{"f(int, int)"}); len(samples) != 0 || err != nil {
		t.Errorf("without a symbol to ask for: got %v, %v, want nothing", samples, err)
	}
}

func TestVersion_Number(t *testing.T) {
	got, err := Version(t.Context(), fakePerf(t, "echo perf version 6.1.187"))
	if err != nil || got != "6.1.187" {
		t.Errorf("got %q, %v, want 6.1.187", got, err)
	}
}
