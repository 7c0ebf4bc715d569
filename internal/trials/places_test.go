package trials

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// nobody is a user who is not root.
const nobody = 65534

// find returns a way and an end.
func find(t *testing.T, wayName, endName string) (*way, *end) {
	t.Helper()
	i := slices.IndexFunc(ways, func(w way) bool { return w.name == wayName })
	j := slices.IndexFunc(ends, func(e end) bool { return e.name == endName })
	if i < 0 || j < 0 {
		t.Fatalf("there is no way %s, or no end %s", wayName, endName)
	}
	return &ways[i], &ends[j]
}

// cells calls f for cells of the table, each a way and an end: for the first, in make interop also for
// three others by chance, in its long form for all.
func cells(t *testing.T, names []string, f func(t *testing.T, w *way, e *end)) {
	t.Helper()
	testrec.CanRecord(t)
	for _, name := range append(names[:1:1], testrec.Chosen(t, names[1:], 0, 3)...) {
		t.Run(name, func(t *testing.T) {
			wayName, endName, _ := strings.Cut(name, "/")
			w, e := find(t, wayName, endName)
			f(t, w, e)
		})
	}
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		testrec.Skip(t, "this needs root")
	}
}

// A user who is not root.
func TestRecord_AsNobody(t *testing.T) {
	needsRoot(t)
	setpriv := testrec.Tool(t, "setpriv")
	cells(t, []string{"node/busy-kill", "node/normal", "node/handler-ctrl-c", "npm-start/busy-ctrl-c", "cluster/normal", "java/busy-term", "php/normal", "escript/normal", "mono/normal", "bun/normal", "deno/busy-kill"}, func(t *testing.T, w *way, e *end) {
		s := w.site(t, "", nobody)
		id := strconv.Itoa(nobody)
		s.via = []string{setpriv, "--reuid", id, "--regid", id, "--clear-groups"}
		s.trial(w, e)
	})
}

// In pid namespaces, with a /proc of their own, as in a container; also in a user namespace.
func TestRecord_InContainers(t *testing.T) {
	needsRoot(t)
	unshare := testrec.Tool(t, "unshare")
	for name, via := range map[string][]string{
		"pids":           {unshare, "-pf", "--mount-proc"},
		"pids-and-users": {unshare, "-Urpf", "--mount-proc"},
	} {
		t.Run(name, func(t *testing.T) {
			// The kernel protects the first process of a namespace from signals, so that is a shell.
			via := append(via, "sh", "-c", `"$@"; exit $?`, "sh")
			if s := newSite(t); true {
				s.via = via
				if p := s.start("", false, "true"); p.wait() != 0 {
					testrec.Skip(t, "no namespaces here: %s", p.stderr.String())
				}
			}
			names := []string{"node/busy-ctrl-c", "node/normal", "node/code", "node/handler-ctrl-c", "npm-start/normal", "cluster/normal", "java/handler-ctrl-c", "php/normal", "escript/normal", "lli/normal", "bun/normal", "deno/normal"}
			cells(t, names, func(t *testing.T, w *way, e *end) {
				s := w.site(t, "", 0)
				s.via = via
				s.trial(w, e)
			})
		})
	}
}

// Each perf, in PATH.
func TestRecord_VersionsOfPerf(t *testing.T) {
	for version, perf := range testrec.Perfs(t) {
		t.Run(version, func(t *testing.T) {
			if filepath.Base(perf) != "perf" {
				testrec.Skip(t, "%s is not called perf", perf)
			}
			if perf == testrec.Tool(t, "perf") {
				return // all other trials use it
			}
			for _, name := range []string{"node/busy-kill", "npm-start/normal", "java/handler-ctrl-c", "php/normal", "script-of-two/normal"} {
				t.Run(name, func(t *testing.T) {
					wayName, endName, _ := strings.Cut(name, "/")
					w, e := find(t, wayName, endName)
					s := w.site(t, "", 0)
					bin := filepath.Join(filepath.Dir(s.dir), "bin")
					s.must(os.Mkdir(bin, 0o755))
					// Not a link: the program is found by its path.
					s.must(os.WriteFile(filepath.Join(bin, "perf"), []byte("#!/bin/sh\nexec "+perf+" \"$@\"\n"), 0o755))
					s.env = append(s.env, "PATH="+bin+":"+os.Getenv("PATH"))
					s.trial(w, e)
				})
			}
		})
	}
}

// A path with spaces. A link without them, for the variables, must not be left.
func TestRecord_PathsWithSpaces(t *testing.T) {
	cells(t, []string{"node/busy-kill", "java/normal", "php/normal", "escript/normal", "mono/normal", "lli/normal", "bun/normal", "deno/normal", "npm-start/normal"}, func(t *testing.T, w *way, e *end) {
		s := w.site(t, "a b, c;", 0)
		tmp := t.TempDir()
		s.env = append(s.env, "TMPDIR="+tmp)
		s.trial(w, e)
		if left, err := filepath.Glob(tmp + "/jitinject-*"); err != nil || len(left) > 0 {
			t.Errorf("got %q in TMPDIR, %v; want nothing", left, err)
		}
	})
}

// refused wants a command line to be refused, before the program starts.
func (s *site) refused(code int, word string, argv ...string) {
	s.t.Helper()
	before := s.list()
	p := s.start("normal", false, append([]string{program, "record"}, argv...)...)
	if got := p.wait(); got != code || !strings.Contains(p.stderr.String(), word) {
		s.t.Errorf("%q: exit code %d, it says %q; want %d and %q", argv, got, p.stderr.String(), code, word)
	}
	if p.stdout.String() != "" {
		s.t.Errorf("%q: the program has run", argv)
	}
	if got := s.list(); !slices.Equal(got, before) {
		s.t.Errorf("%q: the directory has %q, want %q", argv, got, before)
	}
}

// Nothing runs, and nothing is left, if recording is not possible.
func TestRecord_Refusals(t *testing.T) {
	testrec.CanRecord(t)
	w := &ways[0]
	t.Run("no-perf", func(t *testing.T) {
		s := w.site(t, "", 0)
		bin := filepath.Join(filepath.Dir(s.dir), "bin")
		s.must(os.Mkdir(bin, 0o755))
		s.must(os.Symlink(testrec.Tool(t, "node"), filepath.Join(bin, "node")))
		s.env = append(s.env, "PATH="+bin)
		s.refused(255, "perf is not installed, or not in PATH", "node", "hot.js")
	})
	t.Run("no-command", func(t *testing.T) {
		s := w.site(t, "", 0)
		s.refused(127, "not-installed", "not-installed", "hot.js")
		s.refused(129, "what is to be recorded?")
		s.refused(129, "what is to be recorded?", "--")
		s.refused(129, "needs a value", "-F")
		s.refused(129, "number of seconds", "-d0", "node", "hot.js")
		s.refused(129, "there are node, ", "--runtime", "nod", "node", "hot.js")
		s.refused(129, "more than one file", "--switch-output", "node", "hot.js")
		s.refused(129, "record writes files", "-o", "-", "node", "hot.js")
	})
	t.Run("perf-refuses", func(t *testing.T) {
		s := w.site(t, "", 0)
		before := s.list()
		p := s.start("normal", false, program, "record", "-e", "no-such-event", "node", "hot.js")
		if code := p.wait(); code == 0 || p.stdout.String() != "" || !strings.Contains(p.stderr.String(), "no-such-event") {
			t.Errorf("exit code %d, output %q, it says %q; want perf's error", code, p.stdout.String(), p.stderr.String())
		}
		if got := s.list(); !slices.Equal(got, before) {
			t.Errorf("the directory has %q, want %q", got, before)
		}
	})
	t.Run("no-files-of-ours", func(t *testing.T) {
		s := w.site(t, "", 0)
		s.must(os.Mkdir(s.path("perf.jit.files"), 0o755))
		s.must(os.WriteFile(s.path("perf.jit.files/mine"), []byte("mine"), 0o644))
		s.refused(255, "jitinject record did not make it", "node", "hot.js")
		s.refused(255, "-o other.jit.data", "node", "hot.js")
		if b, err := os.ReadFile(s.path("perf.jit.files/mine")); err != nil || string(b) != "mine" {
			t.Errorf("got %q, %v; want what was there", b, err)
		}
	})
	t.Run("no-room-for-node", func(t *testing.T) {
		needsRoot(t)
		id := strconv.Itoa(nobody)
		s := w.site(t, "", 0) // root's
		s.via = []string{testrec.Tool(t, "setpriv"), "--reuid", id, "--regid", id, "--clear-groups"}
		s.refused(255, "no files can be made in .; change to another directory, or name one", "node", "hot.js")
		out := filepath.Join(filepath.Dir(s.dir), "out")
		s.must(os.Mkdir(out, 0o777))
		s.must(os.Chmod(out, 0o777))
		s.refused(255, "node writes its dump into the working directory", "-o", filepath.Join(out, "x.jit.data"), "node", "hot.js")
		if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
			t.Errorf("got %v in the directory of the result, %v; want nothing", left, err)
		}
	})
}

// perf's options take their effect, and files have the names of the manual.
func TestRecord_OtherNames(t *testing.T) {
	testrec.CanRecord(t)
	w := &ways[0]
	s := w.site(t, "", 0)
	before := s.list()
	p := s.start("normal", false, program, "record", "-F499", "--no-inlines", "--call-graph=fp", "-z", "-o", "app.data", "--", "node", "hot.js")
	if code := p.wait(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.stderr.String())
	}
	if text := p.stderr.String(); !strings.Contains(text, ": record without --no-inlines;") {
		t.Errorf("got %s; want the advice about V8's log", text)
	}
	want := append(slices.Clone(before), "app.data", "app.files/", "app.perf.data")
	slices.Sort(want)
	if got := s.list(); !slices.Equal(got, want) {
		t.Errorf("the directory has %q, want %q", got, want)
	}
	clean := s.start("", false, program, "clean", "app.data")
	if code := clean.wait(); code != 0 || !slices.Equal(s.list(), before) {
		t.Errorf("clean: exit code %d, the directory has %q\n%s", code, s.list(), clean.stderr.String())
	}
}

// The command's environment is the user's, but for variables of runtimes. perf changes its own.
func TestRecord_EnvironmentOfTheCommand(t *testing.T) {
	testrec.CanRecord(t)
	s := newSite(t)
	bin := filepath.Join(filepath.Dir(s.dir), "bin")
	s.must(os.Mkdir(bin, 0o755))
	s.must(os.WriteFile(filepath.Join(bin, "printenv"), []byte("#!/bin/sh\necho the first in PATH\nexec env\n"), 0o755))
	s.bin = bin
	alone := s.start("", false, "printenv")
	alone.wait()
	p := s.start("", false, program, "record", "--runtime", "qemu", "--", "printenv")
	if code := p.wait(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.stderr.String())
	}
	want := append(strings.Split(alone.stdout.String(), "\n"), "QEMU_JITDUMP=1")
	got := strings.Split(p.stdout.String(), "\n")
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got environment %q; want %q", got, want)
	}
}
