package profile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// helped begins a script of a perf that knows the field dsoff.
const helped = `case "$*" in *-h*) echo "Fields: comm,dsoff"; exit 129;; esac; `

// Errors are one sentence, with perf's own words.
func TestRead_PerfFails(t *testing.T) {
	file := injected(t, "toyjit", true)
	for _, c := range []struct{ name, perf, want string }{
		{"missing", filepath.Join(t.TempDir(), "perf"), "there is no such program; install perf"},
		{"message", program(t, helped+`echo; echo "Warning: x" >&2; printf "incompatible \033 format\nmore\n" >&2; exit 255`), `script: incompatible \x1b format`},
		{"silent", program(t, helped+"exit 3"), "script: exit status 3"},
		{"killed", program(t, helped+`echo "1/1 1.000000000: 1 cycles: "; kill -9 $$`), "script: signal: killed"},
		{"a kilometer of messages", program(t, helped+`yes x | head -c 1000000 >&2; exit 1`), "script: x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(t.Context(), Options{Perf: c.perf, Path: file})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), c.perf) {
				t.Errorf("got error %v; want %s: … %s in one line", err, c.perf, c.want)
			}
		})
	}
}

func TestRead_MissingRecording(t *testing.T) {
	if _, err := Read(t.Context(), Options{Path: filepath.Join(t.TempDir(), "perf.data")}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got error %v; want one that says that the file is missing", err)
	}
}

func TestRead_CancelledEarlyOrLate(t *testing.T) {
	file := injected(t, "toyjit", true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, Options{Perf: testrec.Tool(t, "perf"), Path: file}); err != context.Canceled {
		t.Errorf("got error %v; want %v", err, context.Canceled)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	begun := filepath.Join(t.TempDir(), "begun")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(begun); err == nil {
				cancel()
			}
		}
	}()
	endless := program(t, helped+`echo "1/1 1.000000000: 1 cycles: "; : >`+begun+`; exec yes "`+"\t 10 f+0x1 (/a)"+`"`)
	if _, err := Read(ctx, Options{Perf: endless, Path: file}); err != context.Canceled {
		t.Errorf("got error %v of a perf that does not end; want %v", err, context.Canceled)
	}
}

// Objects that are gone, or are others by now, give no lines and one warning.
func TestRead_ObjectsGone(t *testing.T) {
	file := injected(t, "toyjit", false)
	objects, err := filepath.Glob(filepath.Join(filepath.Dir(file), "objects", "*.so"))
	if err != nil || len(objects) < 2 {
		t.Fatalf("got objects %q, error %v; want two", objects, err)
	}
	perf := program(t, helped+"cat "+filepath.Join(filepath.Dir(file), "text"))
	text := "1/1 1.000000000: 1 cycles: \n"
	for i, o := range objects {
		text += "\t 10 f+0x1 (" + o + "+0x200)\n"
		content := []byte("no object")
		if i > 0 {
			if content, err = os.ReadFile("/proc/self/exe"); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(o, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text += "\t 10 [unknown] (" + filepath.Join(filepath.Dir(file), "jitted-7-0.so") + "+0x200)\n" // perf has no name then
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "text"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := read(t, Options{Perf: perf, Path: file})
	if len(p.Frames) != len(objects)+1 || p.Frames[0].Line != 0 {
		t.Errorf("got frames %+v; want %d without lines", p.Frames, len(objects))
	}
	if w := strings.Join(p.Recording.Warnings, "\n"); !strings.Contains(w, fmt.Sprintf("functions of %d objects are missing; inject again, or bring the objects along; the first: %s", len(objects)+1, objects[0])) || !strings.Contains(w, "perf script shows 1 sample; the recording has") {
		t.Errorf("got warnings %q; want those of objects and of samples", w)
	}
}

// Without callers, perf prints addresses in place of places in files. Inlined calls are found all the same.
func TestRead_WithoutCallers(t *testing.T) {
	file := injected(t, "toyjit", true)
	for version, perf := range testrec.Perfs(t) {
		whole := read(t, Options{Perf: perf, Path: file})
		text := testrec.Run(t, filepath.Dir(file), perf, "script", "-G", "--no-inline", "--ns", "-F", "pid,tid,period,event,ip,sym,symoff,dso,time", "-i", file)
		saved := filepath.Join(t.TempDir(), "text")
		if err := os.WriteFile(saved, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		single := read(t, Options{Perf: program(t, `case "$*" in *-h*) ;; --version) echo perf version 6.1.0;; *) cat `+saved+`;; esac`), Path: file})
		if len(single.Samples) != len(whole.Samples) {
			t.Fatalf("perf %s: got %d samples; want %d", version, len(single.Samples), len(whole.Samples))
		}
		jitted := 0
		for i := range single.Samples {
			got, want := single.frames(&single.Samples[i]), whole.frames(&whole.Samples[i])
			for j := range got {
				g, w := &single.Functions[got[j].Function], &whole.Functions[want[j].Function]
				if w.Kind != JIT {
					break
				}
				jitted++
				if g.Name != w.Name || got[j].Line != want[j].Line || got[j].Addr != want[j].Addr || got[j].Inlined != want[j].Inlined {
					t.Fatalf("perf %s: sample %d: got %s %+v; want %s %+v", version, i, g.Name, got[j], w.Name, want[j])
				}
			}
		}
		if jitted < 10 {
			t.Errorf("perf %s: got %d jitted frames; want at least 10", version, jitted)
		}
	}
}
