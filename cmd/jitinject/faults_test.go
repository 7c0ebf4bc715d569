package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/faults"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Every system call on files of a run fails, one after the other: once, and from then on. After
// each run, the files and the exit code must fit together.

// A faultMode is a way to use the program.
type faultMode struct {
	name  string
	args  string                         // OUT is replaced by the output
	make  func(t testing.TB, dir string) // makes the inputs; nil: stageFunctions
	first string                         // a run without faults before, whose result is the input
	stdin string                         // the file that a pipe brings
	pipe  bool                           // the result goes to a pipe
	reads bool                           // nothing is written
	few   bool                           // of each call's errors, only the first one is tried
}

// isShort reports whether -short tries the mode.
func (m *faultMode) isShort() bool { return m.name == "default" || m.name == "bundle" }

var faultModes = []faultMode{
	{name: "default", args: "-i perf.data -o out.data"},
	{name: "objects", args: "-i perf.data -o out.data --objects new/objects"},
	{name: "bundle", args: "-i perf.data -o out.data --bundle"},
	{name: "sampled", args: "-i perf.data -o out.data --sampled"},
	{name: "cache", args: "-i perf.data -o out.data --buildid-cache=cache"},
	{name: "compressed", args: "-i perf.data -o out.data -z"},
	{name: "directory", args: "-i perf.dir -o out.dir/", make: stageDirectory},
	{name: "pipe in", args: "-i - -o out.data", make: stagePipe, stdin: "perf.pipe"},
	{name: "pipe out", args: "-i perf.data -o -", pipe: true},
	{name: "clean", args: "clean out.data", first: "-i perf.data -o out.data"},
	{name: "clean, cache", args: "clean --buildid-cache=cache out.data", first: "-i perf.data -o out.data --buildid-cache=cache", few: true},
	{name: "verify", args: "verify out.data", first: "-i perf.data -o out.data", reads: true},
	{name: "dump", args: "dump jit-4711.dump", reads: true},
	{name: "sources", args: "-i perf.data -o out.data --sources new/sources"},
	{name: "Mono", args: "-i perf.data -o out.data", make: stageMono},
	{name: "XRay", args: "-i perf.data -o out.data xray-log.calls", make: stageXRay},
	{name: "V8 log", args: "-i perf.data -o out.data", make: stageV8Log("isolate-0x1-4711-v8.log")},
	{name: "V8 log, bundle", args: "-i perf.data -o out.data --bundle", make: stageV8Log("isolate-0x1-4711-v8.log")},
	{name: "V8 log, named", args: "-i perf.data -o out.data named.log", make: stageV8Log("named.log")},
}

// At each place in the program, each error of the call is tried, and failing all later calls. Each mode
// that comes there tries the first error again, twice if it comes there more often: there is more to
// undo then. make interop also tries all at calls by chance, its long form at each call.
func TestFaults_EveryCall(t *testing.T) {
	total, tried := 0, 0
	known := make(map[faults.Site]bool)
	for _, mode := range slices.Concat(faultModes, readerModes) {
		if testing.Short() && !mode.isShort() {
			continue
		}
		t.Run(mode.name, func(t *testing.T) {
			s := newFaultStage(t, &mode)
			if mode.first != "" {
				if r := s.run(&faultMode{args: mode.first}, nil); r.code != exitOK {
					t.Fatalf("%s: exit code %d: %s", mode.first, r.code, r.stderr)
				}
				s.before = s.tree()
				s.keep()
			}
			var count faults.Fault
			s.good = s.run(&mode, &count)
			if s.good.code != exitOK && !strings.HasPrefix(mode.args, "verify") {
				t.Fatalf("%s: exit code %d: %s", mode.args, s.good.code, s.good.stderr)
			}
			s.reset()
			if again := s.run(&mode, &faults.Fault{}); again.code != s.good.code || len(s.good.tree.Diff(again.tree)) > 0 || again.stdout != s.good.stdout {
				t.Fatalf("two runs differ: %v", s.good.tree.Diff(again.tree))
			}
			sites := count.Sites()
			calls := make([]int, len(sites))
			for i := range calls {
				calls[i] = i + 1
			}
			more := testrec.Chosen(t, calls, 0, 40)
			here := make(map[faults.Site]int)
			for _, every := range []bool{false, true} {
				for n := 1; ; n++ {
					all := slices.Contains(more, n)
					if n <= len(sites) && !all && (here[sites[n-1]] == 2 || every && known[sites[n-1]]) {
						continue
					}
					s.reset()
					f := &faults.Fault{N: n, Every: every}
					r := s.run(&mode, f)
					if f.Happened() == "" {
						break
					}
					tried++
					s.judge(f, r)
					seen := n > len(sites) || known[sites[n-1]]
					for f.More() && (!every && !mode.few && !seen || all) {
						s.reset()
						f = &faults.Fault{N: n, Every: every, Errno: f.Errno + 1}
						r := s.run(&mode, f)
						if f.Happened() == "" {
							break // the calls of two runs may be in another order
						}
						tried++
						s.judge(f, r)
					}
					if n <= len(sites) {
						here[sites[n-1]]++
					}
				}
				for site := range here {
					known[site] = known[site] || every && !mode.few
				}
				clear(here)
			}
			total += len(sites)
			t.Logf("%d calls", len(sites))
		})
	}
	t.Logf("%d calls, %d faults", total, tried)
}

// A faultStage is a directory in which a mode is tried.
type faultStage struct {
	t      *testing.T
	mode   *faultMode
	dir    string
	before faults.Tree
	files  map[string][]byte // contents before
	good   faultResult
	shown  map[string]bool // violations that were reported
}

// A faultResult is what a run did.
type faultResult struct {
	code           int
	stdout, stderr string
	tree           faults.Tree
}

func newFaultStage(t *testing.T, mode *faultMode) *faultStage {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "faults-") // in memory, if /tmp is private
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Chdir(dir)
	if mode.make == nil {
		stageFunctions(t, dir)
	} else {
		mode.make(t, dir)
	}
	for _, name := range []string{"out.data", "out.data.old", "stranger"} {
		if err := os.WriteFile(name, []byte("an earlier "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := &faultStage{t: t, mode: mode, dir: dir, shown: make(map[string]bool)}
	s.before = s.tree()
	s.keep()
	return s
}

func (s *faultStage) tree() faults.Tree {
	s.t.Helper()
	tree, err := faults.TreeOf(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return tree
}

// keep remembers the files.
func (s *faultStage) keep() {
	s.t.Helper()
	s.files = make(map[string][]byte)
	for name, what := range s.before {
		if what[0] == '-' {
			b, err := os.ReadFile(name)
			if err != nil {
				s.t.Fatal(err)
			}
			s.files[name] = b
		}
	}
}

// reset puts back the files that were there before.
func (s *faultStage) reset() {
	s.t.Helper()
	now := s.tree()
	names := make([]string, 0, len(now))
	for name := range now {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Backward(names) {
		if s.before[name] != now[name] {
			if err := os.RemoveAll(name); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	for name, what := range s.before { // a link's target is its last word
		if what[0] == 'L' && now[name] != what {
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.Symlink(what[strings.LastIndexByte(what, ' ')+1:], name)); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	for name, content := range s.files {
		if s.before[name] == now[name] {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, content, 0o644)); err != nil {
			s.t.Fatal(err)
		}
		if strings.HasPrefix(s.before[name], "-rw-------") {
			os.Chmod(name, 0o600)
		}
	}
	if diff := s.before.Diff(s.tree()); len(diff) > 0 {
		s.t.Fatalf("reset: %s", strings.Join(diff, "\n"))
	}
}

// run runs the program with a fault.
func (s *faultStage) run(mode *faultMode, f *faults.Fault) faultResult {
	s.t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer null.Close()
	in, out := null, null
	if mode.stdin != "" {
		content, err := os.ReadFile(mode.stdin)
		if err != nil {
			s.t.Fatal(err)
		}
		in = piped(s.t, content, true)
		defer in.Close()
	}
	var stdout bytes.Buffer
	done := make(chan bool)
	close(done)
	if mode.pipe || mode.reads {
		r, w, err := os.Pipe()
		if err != nil {
			s.t.Fatal(err)
		}
		out, done = w, make(chan bool)
		go func() {
			io.Copy(&stdout, r)
			r.Close()
			close(done)
		}()
	}
	args := strings.Fields(mode.args)
	if args[0][0] == '-' {
		args = append(args, "--jobs", "1")
	}
	var errs bytes.Buffer
	if f != nil {
		defer sys.Use(f)()
	}
	code := run(append([]string{"jitinject"}, args...), in, out, &errs)
	if out != null {
		out.Close()
	}
	<-done
	return faultResult{code, stdout.String(), errs.String(), s.tree()}
}

// judge compares a run that had a fault with the one that had none.
func (s *faultStage) judge(f *faults.Fault, r faultResult) {
	s.t.Helper()
	var wrong []string
	switch {
	case r.code == exitOK && strings.Contains(r.stderr, ": permission denied, so logs of V8 in it are not found"):
		wrong = s.incomplete(r) // a log in such a directory is not expected
	case r.code == s.good.code && !(s.mode.reads && r.stdout != s.good.stdout):
		wrong = s.good.tree.Diff(r.tree)
		if r.stdout != s.good.stdout {
			wrong = append(wrong, "the result in the pipe differs")
		}
		if elapsed.ReplaceAllString(r.stderr, "") != elapsed.ReplaceAllString(s.good.stderr, "") && !s.named(f, r) {
			wrong = append(wrong, "the messages differ, and do not name the file")
		}
	case r.stderr == "" && !(s.mode.reads && r.stdout != s.good.stdout):
		wrong = append(wrong, "there is no message")
	case s.mode.reads:
		if r.code == exitOK {
			wrong = append(wrong, "the output differs")
		}
		wrong = append(wrong, s.before.Diff(r.tree)...)
	case r.code == exitIncomplete:
		wrong = s.incomplete(r)
	case r.code == exitFailed, r.code == exitUsage: // a file that cannot be read is not known to be one
		wrong = s.failed(r)
	default:
		wrong = append(wrong, "no such exit code is documented")
	}
	if r.code != s.good.code && !s.named(f, r) {
		wrong = append(wrong, "the messages do not name the file")
	}
	wrong = append(wrong, twice(r.stderr)...)
	key := fmt.Sprintln(f.N, f.Every)
	if len(wrong) == 0 || s.shown[key] {
		return
	}
	s.shown[key] = true
	s.t.Errorf("%s: exit code %d:\n  %s\n  %s", f.Happened(), r.code, strings.Join(wrong, "\n  "), strings.ReplaceAll(strings.TrimSpace(r.stderr), "\n", "\n  "))
}

// elapsed is the end of messages with the time that a run took, and with the sizes of files.
var elapsed = regexp.MustCompile(`(read [0-9,.]+ [a-zA-Z]+, wrote .*)? in [0-9.]+ m?s\n`)

// repeated matches an error of package os, with the name of the file.
var repeated = regexp.MustCompile(`\b(?:open|openat|stat|statat|lstat|read|readdirent|readlink|seek) ([^:]+): `)

// twice returns the messages that name the file of an error twice.
func twice(stderr string) (wrong []string) {
	for line := range strings.Lines(stderr) {
		for _, m := range repeated.FindAllStringSubmatch(line, -1) {
			if m[1] != "it" && strings.Count(line, m[1]) > 1 {
				wrong = append(wrong, "a message names its file twice: "+strings.TrimSpace(line))
			}
		}
	}
	return wrong
}

// named reports whether a run named the file that a call failed to read. It does not count what a run
// makes, or more than one failing call: the first may not matter.
func (s *faultStage) named(f *faults.Fault, r faultResult) bool {
	path, err := filepath.Rel(s.dir, strings.TrimSuffix(f.File(), " (deleted)"))
	if !filepath.IsAbs(f.File()) {
		path, err = f.File(), nil
	}
	if f.File() == "" || strings.HasPrefix(f.File(), "pipe:") || f.Every || err != nil || path == "." || strings.HasPrefix(path, "..") || strings.HasSuffix(path, ".partial") {
		return true
	}
	if s.before[path] == "" || s.mode.stdin != "" && strings.Contains(r.stderr, "interrupted; ") { // the run has made it, or has left its input
		return true
	}
	said, dir := r.stdout+r.stderr, filepath.Dir(path)
	return strings.Contains(said, filepath.Base(path)) || dir != "." && strings.Contains(said, dir)
}

// incomplete judges a run that left something out, and said so.
func (s *faultStage) incomplete(r faultResult) (wrong []string) {
	referred := make(map[string]bool)
	if strings.HasPrefix(s.mode.args, "-i") && !s.mode.pipe && s.mode.name != "directory" {
		wrong = append(wrong, unreadable("out.data", referred)...)
	}
	for name, what := range s.before {
		if now := r.tree[name]; now != what && now != s.good.tree[name] && name != "out.data" && !strings.HasPrefix(name, "out.dir/") && !(strings.HasPrefix(name, "out.dir.old") && now == "" && strings.Contains(r.stderr, "and the one before is .out.dir.0.partial")) {
			wrong = append(wrong, fmt.Sprintf("%s: was %s, is %s", name, what, now))
		}
	}
	for name, what := range r.tree {
		switch want, known := s.good.tree[name]; {
		case s.before[name] == what || known && want == what:
		case name == "out.data" || strings.HasPrefix(name, "out.dir/"):
		case referred[filepath.Base(name)]: // a bundle without some functions has another name
		case mentions(r.stderr, name):
		default:
			wrong = append(wrong, fmt.Sprintf("%s: is %s, want %s", name, what, want))
		}
	}
	return wrong
}

// failed judges a run that wrote no result.
func (s *faultStage) failed(r faultResult) (wrong []string) {
	for _, line := range s.before.Diff(r.tree) {
		name, _, _ := strings.Cut(line, ": ")
		isObject := s.good.tree[name] == r.tree[name] && r.tree[name] != ""
		switch {
		case mentions(r.stderr, name):
		case strings.HasPrefix(name, "out.dir/") && r.tree[name] == "" && strings.Contains(r.stderr, "the file that had this name is .out.dir.old.e0.partial now"):
		case isObject && strings.Contains(r.stderr, "objects that were made stay in "):
		case isObject && (s.mode.pipe || strings.HasPrefix(s.mode.name, "clean")):
		case strings.HasPrefix(s.mode.name, "clean") && r.tree[name] == "" && s.good.tree[name] == "":
		default:
			wrong = append(wrong, line)
		}
	}
	return wrong
}

// mentions reports whether messages mention a file, or the partial directory that it is in.
func mentions(stderr, name string) bool {
	if strings.Contains(stderr, filepath.Base(name)) {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasSuffix(part, ".partial") && strings.Contains(stderr, part) {
			return true
		}
	}
	return false
}

// unreadable says what is wrong with a result. It sets referred for the objects of its
// mappings, which must be there; nil: they may be anywhere.
func unreadable(path string, referred map[string]bool) (wrong []string) {
	f, err := os.Open(path)
	if err != nil {
		return []string{err.Error()}
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return []string{err.Error()}
	}
	file, err := perfdata.Open(f, st.Size())
	if err != nil {
		return []string{err.Error()}
	}
	layouts, err := perfdata.NewLayouts(file.Header.Order, file.Attrs)
	if err != nil {
		return []string{err.Error()}
	}
	for blocks := file.Blocks(); ; {
		block, err := blocks.Next()
		if err == io.EOF {
			return wrong
		}
		if err != nil {
			return append(wrong, err.Error())
		}
		for _, rec := range block.Records() {
			if rec.Type != perfdata.RecordMmap2 {
				continue
			}
			m, err := layouts.Mmap(rec)
			if err != nil {
				return append(wrong, err.Error())
			}
			if name := string(m.Filename); strings.HasPrefix(filepath.Base(name), "jit") && strings.HasSuffix(name, ".so") {
				if referred == nil {
					continue
				}
				referred[filepath.Base(name)] = true
				if e, err := elf.Open(name); err != nil {
					wrong = append(wrong, "it refers to "+name+": "+err.Error())
				} else {
					e.Close()
				}
			}
		}
	}
}
