package known

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A library in Go is known by the modules in the program's file: here, in that of jitinject.
func TestInGo_ByModules(t *testing.T) {
	const module, note = "github.com/spf13/pflag", "a library"
	inGo[module] = Runtime{note: note}
	defer delete(inGo, module)
	program := filepath.Join(t.TempDir(), "program")
	if err := testrec.Build(program); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	process := func(names ...string) *recording.Process {
		p := new(recording.Process)
		for _, name := range names {
			p.FileMaps = append(p.FileMaps, recording.FileMap{Name: name})
		}
		return p
	}
	if r := InGo(process("[vdso]", text, "/nonexistent/file", program)); r == nil || r.Advice(nil) != note {
		t.Errorf("got %+v; want the library", r)
	}
	if r := InGo(process("[vdso]", text, "/nonexistent/file")); r != nil {
		t.Errorf("got %+v for a script; want nil", r)
	}
	for path, want := range map[string]string{"a.b/c": "a.b/c", "a.b/c/v8": "a.b/c", "a.b/v": "a.b/v", "a.b/vx1": "a.b/vx1"} {
		if got := withoutMajor(path); got != want {
			t.Errorf("%s: got %s; want %s", path, got, want)
		}
	}
	for tags, want := range map[string]bool{"perfmap": true, "netgo,perfmap": true, "perfmaps": false, "": false} {
		if got := hasTag(&debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "-tags", Value: tags}}}, "perfmap"); got != want {
			t.Errorf("tags %s: got %v; want %v", tags, got, want)
		}
	}
	for module, r := range inGo {
		if !strings.Contains(module, ".") || r.note == "" {
			t.Errorf("%s: got no note", module)
		}
	}
}
