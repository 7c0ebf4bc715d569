package hostile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Logs of V8 are found by their names, and anyone can put files into /tmp.

const logName = "isolate-0x5-4711-v8.log"

// newV8Stage makes a recording of a process of V8 with optimized functions, and the log of the
// process. In the log, each function has an inlined call.
func newV8Stage(t *testing.T, functions int) *stage {
	t.Helper()
	s := emptyStage(t)
	r := testrec.NewRecording()
	r.Comm(pid, 900, "node", true)
	r.Marker(pid, 1000, s.path(dumpName))
	var dump bytes.Buffer
	w, err := jitdump.NewWriter(&dump, &jitdump.Header{Order: binary.LittleEndian, Version: 1, Machine: uint32(elf.EM_X86_64), Pad: 0xdeadbeef, PID: pid})
	s.must(err)
	for i := range uint64(functions) {
		addr := base + 64*i
		s.must(w.Write(2000+1000*i, jitdump.NewDebugInfo(binary.LittleEndian, addr, []jitdump.DebugEntry{{Addr: addr, Line: 1, Discrim: 1, Name: []byte("/a.js")}})))
		l := load(i, fmt.Sprintf("JS:*f%d /a.js:1:%d", i, i+1))
		s.must(w.Write(2000+1000*i, l))
		r.Sample(pid, 1e9+i, addr+8)
	}
	s.put(dumpName, dump.String())
	s.put(logName, logOf(functions, base))
	r.Write(t, s.path("perf.data"))
	return s
}

// logOf returns the log of such a process, with its code from an address on.
func logOf(functions int, from uint64) string {
	var log strings.Builder
	log.WriteString("v8-version,11,3,244,8,0\nscript-source,1,/a.js," + strings.Repeat("x", functions+9) + "\ncode-creation,JS,11,1,0x500,9,inner /a.js:1:5,0x30,~\ncode-source-info,0x500,1,4,7,,,\n")
	for i := range uint64(functions) {
		fmt.Fprintf(&log, "code-creation,JS,13,%d,%#x,64,f%d /a.js:1:%d,%#x,*\ncode-source-info,%#x,1,%d,%d,C0O0C8O5I0C16O1,F0O1,S0x30\n", 1000+i, from+64*i, i, i+1, 0x40+8*i, from+64*i, i, i+1)
	}
	return log.String()
}

// described wants the log to describe a number of functions, or none.
func (s *stage) described(r *result, functions int) {
	s.t.Helper()
	if has := strings.Contains(r.stderr, "inlines"); has != (functions > 0) {
		s.t.Errorf("%s: inlined calls: %v; want %v\n%s", r.what, has, functions > 0, r.stderr)
	}
	if n := len(s.objectNames("out.data")); n != 3 {
		s.t.Errorf("%s: got %d objects; want 3", r.what, n)
	}
}

func TestV8Log_Used(t *testing.T) {
	s := newV8Stage(t, 3)
	s.described(s.inject().wants(allInjected), 3)
	s.must(os.Remove(s.path(logName)))
	s.described(s.inject().wants(allInjected), 0)
}

// A log that is no regular file has a message, if it is found and if it is named. The rest is
// injected.
func TestV8Log_Kinds(t *testing.T) {
	words := map[string]string{"directory": "not a regular file", "fifo": "not a regular file", "socket": "no such device", "zero": "not a regular file", "terminal": "", "link": "symbolic link", "loop": "symbolic link", "proc": "symbolic link"}
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := newV8Stage(t, 3)
			s.become(kind, logName)
			before, err := os.Lstat(s.path(logName))
			s.must(err)
			s.described(s.inject().wants(incomplete, logName, words[kind], "its inlined calls are missing"), 0)
			if after, err := os.Lstat(s.path(logName)); err != nil || after.Mode() != before.Mode() {
				t.Errorf("got %v, %v; want the %s as it was", after, err, kind)
			}
			s.must(os.Remove(s.path("out.data")))
			if r := s.inject(logName); r.code != notWritten && r.code != usage || !strings.Contains(r.stderr, logName) {
				t.Errorf("named: got exit code %d, %s; want %d or %d, and the name", r.code, r.stderr, notWritten, usage)
			}
		})
	}
}

// A log that another user has made is not believed, unless that user has made the dump.
func TestV8Log_OfOther(t *testing.T) {
	root(t)
	for _, c := range []struct {
		log, dump int
		used      bool
	}{{nobody, 0, false}, {nobody, nobody, true}, {nobody, nobody - 1, false}, {0, nobody, true}} {
		s := newV8Stage(t, 3)
		s.chown(c.log, logName)
		s.chown(c.dump, dumpName)
		if c.used {
			s.described(s.inject().wants(allInjected), 3)
			continue
		}
		s.described(s.inject().wants(incomplete, logName, "it belongs to another user than the dump", "name it on the command line"), 0)
		s.described(s.inject(logName).wants(allInjected), 3)
	}
}

// A hard link gives a file of the victim, or of another user, a log's name. None of its text is
// printed or written.
func TestV8Log_HardLink(t *testing.T) {
	s := newV8Stage(t, 3)
	const secret = "v8-password,hunter2\n"
	s.put("secret", secret)
	s.must(os.Remove(s.path(logName)))
	s.must(os.Link(s.path("secret"), s.path(logName)))
	r := s.inject().wants(incomplete, logName, "not a log of V8")
	s.described(r, 0)
	if strings.Contains(r.stderr, "hunter2") {
		t.Errorf("it prints the secret: %s", r.stderr)
	}
	for _, name := range append(s.objectNames("out.data"), s.path("out.data")) {
		if b, err := os.ReadFile(name); err != nil || bytes.Contains(b, []byte("hunter2")) {
			t.Errorf("%s: got the secret, or %v; want neither", name, err)
		}
	}
	if s.read("secret") != secret {
		t.Errorf("got %q; want the secret as it was", s.read("secret"))
	}
	if os.Geteuid() == 0 {
		s.chown(nobody, "secret")
		s.inject().wants(incomplete, logName, "it belongs to another user than the dump")
	}
	// A second name of the log itself is no second log.
	s.must(os.Remove(s.path(logName)))
	s.put(logName, logOf(3, base))
	s.must(os.Link(s.path(logName), s.path("isolate-0x6-4711-v8.log")))
	s.described(s.inject().wants(allInjected), 3)
}

// Names with commands for terminals are quoted.
func TestV8Log_NamesForTerminals(t *testing.T) {
	for _, text := range []string{"", "v8-version\x1b[2J\n", logOf(3, 0x1000), strings.ReplaceAll(logOf(3, base), "O0C8", "\x1b]0;\a\n"), strings.ReplaceAll(logOf(3, base), "F0O1", "F9O1")} {
		s := newV8Stage(t, 3)
		s.must(os.Remove(s.path(logName)))
		s.put("isolate-\x1b]0;title\a-4711-v8.log", text)
		s.inject("-v").wants(incomplete, "v8.log")
		if n := len(s.objectNames("out.data")); n != 3 {
			t.Errorf("%q: got %d objects; want 3", text, n)
		}
	}
}

// Thousands of files with names of logs: the right one is found, memory is bounded, and messages are
// few.
func TestV8Log_ManyFiles(t *testing.T) {
	n := testrec.Rounds(1000, 300)
	if os.Getenv("JITINJECT_ALL") != "" {
		n = 10_000
	}
	for what, c := range map[string]struct {
		make func(s *stage, path string) error
		code int
		word string
	}{
		"of other runs": {func(s *stage, path string) error { return os.WriteFile(path, []byte(logOf(3, 0x1000)), 0o600) }, allInjected, "more logs of V8 are of another run"},
		"without code":  {func(s *stage, path string) error { return os.WriteFile(path, []byte("v8-version,1,2,3,4\n"), 0o600) }, allInjected, ""},
		"empty":         {func(s *stage, path string) error { return os.WriteFile(path, nil, 0o600) }, incomplete, "more logs of V8 cannot be used"},
		"links":         {func(s *stage, path string) error { return os.Symlink("/dev/zero", path) }, incomplete, "more logs of V8 cannot be used"},
		"of processes": {func(s *stage, path string) error {
			return os.WriteFile(strings.Replace(path, "-4711-", "-9"+filepath.Base(path)[10:14]+"-", 1), []byte(logOf(3, 0x1000)), 0o600)
		}, allInjected, ""},
	} {
		t.Run(what, func(t *testing.T) {
			s := newV8Stage(t, 3)
			for i := range n {
				s.must(c.make(s, s.path(fmt.Sprintf("isolate-0x%04d0-4711-v8.log", i))))
			}
			r, peak, took := s.measured()
			r.wants(c.code, c.word)
			s.described(r, 3)
			if lines := strings.Count(r.stderr, "\n"); lines > 70 {
				t.Errorf("got %d lines of messages; want at most 70", lines)
			}
			t.Logf("%v, %d MB", took.Round(time.Millisecond), peak>>20)
			if limit := int64(100 << 20); peak > limit {
				t.Errorf("got %d MB; want at most %d", peak>>20, limit>>20)
			}
		})
	}
}

// A log may change at any moment of a run: its inlined calls are missing then, and a message says
// so.
func TestV8Log_ChangesAnytime(t *testing.T) {
	const functions = 300
	good := newV8Stage(t, functions)
	start := time.Now()
	good.inject("--objects", "objects").wants(allInjected)
	takes := time.Since(start)
	for what, change := range changes {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(3, uint64(len(what))))
			for range testrec.Rounds(4, 2) {
				s := newV8Stage(t, functions)
				s.victim()
				done := make(chan bool)
				time.AfterFunc(time.Duration(rnd.Int64N(int64(takes))), func() {
					change(s, logName, rnd)
					close(done)
				})
				r := s.inject("--objects", "objects")
				<-done
				s.spared()
				if r.code != allInjected {
					r.wants(incomplete, "v8.log")
				}
				if n := len(s.objectNames("out.data")); n != functions {
					t.Errorf("got %d objects; want %d\n%s", n, functions, r.stderr)
				}
			}
		})
	}
}
