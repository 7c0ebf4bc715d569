package hostile

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Names come from files that anyone may have written. Runs check that nothing in what
// they print moves a terminal (isText).

// evil are names that a terminal, a shell, a parser or a file system may take for
// something else.
var evil = []string{
	"\x1b]0;owned\x07\x1b[2J\x1b[31mred",
	"line\nline\r\n\x00"[:11],
	"\xff\xfe invalid \xc3(",
	"../../../../../../etc/passwd",
	"/etc/passwd",
	"C:\\windows\\system32",
	"\u202egnol-ot-thgir\u2028\u0085\u009b31m",
	"%s%n%d",
	"$(touch owned) `touch owned` ; touch owned",
	"-rf",
	"<script>alert('\"')</script>",
	strings.Repeat("long", 20000),
	"",
	".",
	"..",
	"/",
	"//",
	"\ttab\bback\x7f",
}

// isJSON wants one valid document, without anything that moves a terminal.
func isJSON(t *testing.T, text string) {
	t.Helper()
	if !json.Valid([]byte(text)) {
		t.Errorf("no JSON: %q", text)
	}
	for _, c := range text {
		if c != '\n' && unicode.IsControl(c) {
			t.Errorf("the JSON has %q in it: %q", c, text)
			return
		}
	}
}

// Functions, source files and programs with such names.
func TestNames_InFiles(t *testing.T) {
	for _, args := range [][]string{{}, {"--bundle"}} {
		s := emptyStage(t)
		s.must(os.Mkdir(s.path("in"), 0o755))
		r := testrec.NewRecording()
		var recs []timed
		r.Comm(pid, 800, evil[0], true)
		r.Marker(pid, 1000, s.path("in/"+dumpName))
		for i, name := range evil {
			r.Comm(pid, 1001, name[:min(len(name), 15)], false)
			n := uint64(i)
			recs = append(recs, timed{1500 + n, jitdump.NewDebugInfo(binary.LittleEndian, base+64*n, []jitdump.DebugEntry{
				{Addr: base + 64*n, Line: 1, Name: []byte(name)}, {Addr: base + 64*n + 4, Line: 1 << 31, Name: []byte(name + "x")},
			})})
			recs = append(recs, timed{2000 + n, load(n, name)})
			if name != "" {
				recs = append(recs, timed{1500 + n, jitdump.NewEmbeddedSource(name, []byte(precious))})
			}
			r.Sample(pid, 100000+n, base+64*n+8)
		}
		s.dump("in/"+dumpName, recs...)
		r.Write(t, s.path("perf.data"))
		r1 := s.inject(append(args, "-vvv", "--sources", "sources")...)
		if r1.code != allInjected && r1.code != incomplete {
			r1.wants(allInjected)
		}
		if n := len(s.objectNames("out.data")); n == 0 {
			t.Error("nothing is mapped")
		}
		s.run("clean", "-v", "out.data").wants(allInjected)
		isJSON(t, s.inject(append(args, "--summary", "json")...).stdout)
		for _, name := range []string{s.path("owned"), "owned"} {
			if _, err := os.Lstat(name); err == nil {
				t.Errorf("%s was made", name)
			}
		}
		entries, err := os.ReadDir(s.dir)
		s.must(err)
		for _, e := range entries {
			switch e.Name() {
			case "in", "perf.data", "out.data", "out.data.old", "sources":
			default:
				t.Errorf("%q was made", e.Name())
			}
		}
	}
}

// Directories and files on the command line and in the recording with such names.
func TestNames_OfPaths(t *testing.T) {
	for _, name := range testrec.Few(evil, 2) {
		if strings.Trim(name, "./") == "" || strings.ContainsAny(name, "/") || len(name) > 200 {
			continue
		}
		top := emptyStage(t)
		top.must(os.Mkdir(top.path(name), 0o755))
		s := &stage{t, top.path(name)}
		s.functions(3)
		recording, out := s.path(name), s.path(name+".out")
		s.must(os.Rename(s.path("perf.data"), recording))
		s.run("-i", recording, "-o", out, "-vv").wants(allInjected)
		s.shows(name+".out", 3)
		isJSON(t, s.runJSON("-i", recording, "-o", out, "--summary", "json"))
		s.run("clean", "-v", out).wants(allInjected)

		s.run("-i", recording, "-o", out, "--objects", recording).wants(notWritten, "cannot write objects")

		// And all that can be said of them.
		s.must(os.Rename(s.path(dumpName), s.path("gone")))
		s.run("-i", recording, "-o", out).wants(notWritten, "is gone")
		isJSON(t, s.runJSON("-i", recording, "-o", out, "--summary", "json"))
		s.run("-i", recording, "-o", out, "--dump-dir", s.path("no"+name)).wants(notWritten, "there is no such directory")
		s.run("-i", recording, "-o", out, "--dump", "4711="+s.path("no"+name)).wants(notWritten)
		s.run("-i", recording, "-o", s.path("no/"+name)).wants(notWritten)
		s.run("-i", s.path("no"+name), "-o", out).wants(notWritten, "there is no such file")
		s.run("clean", s.path("no"+name)).wants(notWritten)
		s.run("--clock", name).wants(usage)
		s.run("--summary", name).wants(usage)
		s.run("--dump", name).wants(usage)
		s.run("--jobs", name).wants(usage)
		s.run("--x" + name).wants(usage)
		s.run("x" + name).wants(usage)
		s.put(dumpName, "JITDUMP?")
		s.run("-i", recording, "-o", out).wants(notWritten, "no output was written")
	}
}

// runJSON runs and returns what is on standard output: data, which may have characters
// that a text may not.
func (s *stage) runJSON(args ...string) string {
	s.t.Helper()
	return s.runVia(nil, args...).stdout
}
