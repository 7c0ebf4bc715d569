package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/faults"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// The power is cut after each change that a run makes, in every state that it may leave. The result
// is then the earlier one or the new one, whole, with all its objects; nothing earlier is lost; and
// the next run makes what it should.

func TestCrash_EveryState(t *testing.T) {
	states, runs := 0, 0
	for _, mode := range faultModes {
		if mode.reads || mode.pipe || strings.HasPrefix(mode.name, "clean") || testing.Short() && !mode.isShort() || mode.name == "XRay" { // XRay: nothing that the default has not
			continue
		}
		t.Run(mode.name, func(t *testing.T) {
			s := newFaultStage(t, &mode)
			disk, err := faults.NewDisk(s.dir)
			if err != nil {
				t.Fatal(err)
			}
			var rec faults.Record
			restore := sys.Use(&rec)
			good := s.run(&mode, nil)
			restore()
			if good.code != exitOK {
				t.Fatalf("exit code %d: %s", good.code, good.stderr)
			}
			if err := disk.Take(&rec); err != nil {
				t.Fatal(err)
			}
			before, after := disk.States(0)[0], contents(t, s.dir)
			last := disk.Moments() - 1
			seen := make(map[string]bool)
			wrong := 0
			for moment := range disk.Moments() {
				for _, state := range disk.States(moment) {
					states++
					problem := lost(before, after, state, moment == last)
					key := state.Key()
					if problem == "" && !seen[key] {
						seen[key] = true
						runs++
						problem = s.recovers(&mode, before, after, state)
					}
					if problem != "" {
						if wrong++; wrong < 3 {
							t.Errorf("moment %d, after %s: %s\n%s", moment, disk.At(moment), problem, strings.Join(shortened(state), "\n"))
						}
					}
				}
			}
			t.Logf("%d moments, %d different states", last+1, len(seen))
		})
	}
	t.Logf("%d states, %d next runs", states, runs)
}

// Without syncs, a power cut may lose the result after the run, and the test above sees that.
func TestCrash_WithoutSync(t *testing.T) {
	mode := &faultMode{args: "-i perf.data -o out.data --no-sync"}
	s := newFaultStage(t, mode)
	disk, err := faults.NewDisk(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	var rec faults.Record
	restore := sys.Use(&rec)
	s.run(mode, nil)
	restore()
	if err := disk.Take(&rec); err != nil {
		t.Fatal(err)
	}
	before, after := disk.States(0)[0], contents(t, s.dir)
	problems := make(map[string]bool)
	for moment := range disk.Moments() {
		for _, state := range disk.States(moment) {
			problems[lost(before, after, state, moment == disk.Moments()-1)] = true
		}
	}
	for _, want := range []string{"the run had ended, and its result is not there", "the results are neither those of before nor those of after"} {
		if !problems[want] {
			t.Errorf("got %v; want %q as well", problems, want)
		}
	}
}

// contents returns the files of a directory as a state.
func contents(t *testing.T, dir string) faults.State {
	t.Helper()
	disk, err := faults.NewDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	return disk.States(0)[0]
}

// under returns the files below a name, which may be a file, as a text.
func under(s faults.State, name string) string {
	part := make(faults.State)
	for path, content := range s {
		if path == name || path == name+"/" || strings.HasPrefix(path, name+"/") {
			part[path[len(name):]] = content
		}
	}
	return part.Key()
}

// lost says what is lost in a state, or returns "". done says that the run had ended.
func lost(before, after, state faults.State, done bool) string {
	out := "out.data"
	if under(before, "out.dir") != "" {
		out = "out.dir"
	}
	side := "." + out + ".old.e0.partial"
	earlier, older, next := under(before, out), under(before, out+".old"), under(after, out)
	isNew := false
	switch now, old := under(state, out), under(state, out+".old"); {
	case now == next && old == earlier:
		isNew = true
	case done:
		return "the run had ended, and its result is not there"
	case now == next && under(state, side) == earlier: // the next run goes on
		isNew = true
		if old != older && !(old == "" && under(state, "."+out+".0.partial") == older) {
			return "the older result is lost"
		}
	case now == earlier && old == older:
	case now == "" && under(state, side) == earlier && old == older && out == "out.dir": // the next run goes on
	default:
		return "the results are neither those of before nor those of after"
	}
	for name, content := range before {
		if !strings.Contains(name, "out.d") && state[name] != content {
			return name + " has changed"
		}
	}
	if isNew {
		for name, content := range after {
			if strings.HasSuffix(name, ".so") && !strings.HasPrefix(name, "cache/") || strings.HasPrefix(name, "new/sources/") {
				if state[name] != content {
					return "the result is there, and " + name + " is not as it should be"
				}
			}
		}
	}
	return ""
}

// recovers runs the program in a state. It says what is wrong with the result, or returns "".
func (s *faultStage) recovers(mode *faultMode, before, after, state faults.State) string {
	s.t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := state.Write(s.dir); err != nil {
		s.t.Fatal(err)
	}
	// The result of before is still the one before the next run's, if that of the run is not there.
	r := s.run(mode, nil)
	now := contents(s.t, s.dir)
	switch {
	case r.code != exitOK:
		return fmt.Sprintf("the next run: exit code %d: %s", r.code, r.stderr)
	case strings.Contains(now.Key(), ".partial"):
		return "the next run leaves a partial file"
	}
	// An existing source file never changes. If the power cut left a part of one, the text gets
	// another name, which the objects have, too.
	others := mode.name == "sources" && now["new/sources/lib/f.toy"] != after["new/sources/lib/f.toy"]
	if others && !strings.Contains(now.Key(), "fn f()") {
		return "the source is not there"
	}
	for name, content := range after {
		if !others && !strings.HasPrefix(name, "out.") && now[name] != content {
			return "after the next run, " + name + " is not as it should be"
		}
	}
	out := "out.data"
	if under(before, "out.dir") != "" {
		out = "out.dir"
	}
	if !others && under(now, out) != under(after, out) {
		return "the result of the next run is another"
	}
	if old := under(now, out+".old"); !others && old != under(before, out) && old != under(after, out) {
		return "the next run lost the result of before"
	}
	return ""
}

// shortened lists the files of a state, for a message.
func shortened(s faults.State) (lines []string) {
	for name, content := range s {
		lines = append(lines, fmt.Sprintf("  %s: %d bytes, %.20q", name, len(content), content))
	}
	return lines
}
