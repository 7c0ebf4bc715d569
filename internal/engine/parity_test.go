package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// side is a recording injected by perf and by us.
type side struct{ dir, perf, ours string }

// sideBySide unpacks a recording and injects it twice.
func sideBySide(t *testing.T, name string) side {
	t.Helper()
	dir := testrec.Place(t, name)
	s := side{dir, filepath.Join(dir, "perf-inject.data"), filepath.Join(dir, "ours.data")}
	testrec.Run(t, dir, testrec.Tool(t, "perf"), "--buildid-dir", "/dev/null", "inject", "--jit", "-i", "perf.data", "-o", s.perf)
	sum, err := engine.Run(context.Background(), config.Options{
		Input: filepath.Join(dir, "perf.data"), Output: s.ours, Objects: filepath.Join(dir, "objects"),
	})
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	return s
}

// The header of the result says what that of the recording says, but for the
// time of the file and the places of things in it; perf inject puts in its own
// command line.
func TestParity_Header(t *testing.T) {
	s := sideBySide(t, "node-fp")
	for version, perf := range testrec.Perfs(t) {
		header := func(file string) map[string]string {
			fields := make(map[string]string)
			for line := range strings.Lines(testrec.Run(t, s.dir, perf, "report", "--header-only", "-I", "-i", file)) {
				key, value, _ := strings.Cut(strings.Trim(line, "# \n"), ":")
				switch key = strings.TrimSpace(key); key {
				case "captured on", "data size", "feat offset":
				default:
					fields[key] += value + "\n"
				}
			}
			return fields
		}
		in, theirs, ours := header("perf.data"), header(s.perf), header(s.ours)
		if len(in) < 15 {
			t.Errorf("perf %s prints only %v", version, in)
		}
		for key := range in {
			if in[key] != ours[key] {
				t.Errorf("perf %s: %s is %q, in the recording %q", version, key, ours[key], in[key])
			}
			if theirs[key] != ours[key] && key != "cmdline" {
				t.Errorf("perf %s: %s is %q, in perf inject's output %q", version, key, ours[key], theirs[key])
			}
		}
		if len(ours) != len(in) {
			t.Errorf("perf %s: %d header lines, the recording has %d", version, len(ours), len(in))
		}
	}
}

// Every record that is not about code goes through bit for bit, in its place.
func TestResult_OtherRecordsUnchanged(t *testing.T) {
	for _, name := range testrec.Few(testrec.Names, 2) {
		dir := testrec.Place(t, name)
		in, out := filepath.Join(dir, "perf.data"), filepath.Join(dir, "out.data")
		sum, err := engine.Run(context.Background(), config.Options{Input: in, Output: out, Objects: filepath.Join(dir, "objects")})
		if err != nil || !sum.Complete() {
			t.Fatalf("for %v: got %s, %v; want no error, nothing missing", name, asJSON(sum), err)
		}
		before, after := recordBytes(t, in), recordBytes(t, out)
		at, added, dropped := 0, 0, 0
		for _, rec := range before {
			for at < len(after) && isObjectRecord(after[at]) {
				at++
				added++
			}
			if at < len(after) && after[at] == rec {
				at++
				continue
			}
			if !strings.Contains(rec, ".dump") && !strings.Contains(rec, "//anon") && !strings.Contains(rec, "[anon") {
				t.Fatalf("%s: a record is missing: % x", name, rec)
			}
			dropped++
		}
		for ; at < len(after) && isObjectRecord(after[at]); at++ {
			added++
		}
		if at != len(after) || added != sum.Mappings+sum.Tables || dropped != sum.Dropped || added == 0 {
			t.Errorf("%s: %d records, %d of them looked at; %d added, %d dropped, the summary says %d and %d", name, len(after), at, added, dropped, sum.Mappings, sum.Dropped)
		}
	}
}

// isObjectRecord reports whether a record names one of our objects.
func isObjectRecord(rec string) bool {
	return strings.Contains(rec, "/jitted-")
}

// The hottest line is the hottest line. perf inject moves lines by 0x40 bytes:
// with its output, it is another one or none.
func TestLines_HottestLine(t *testing.T) {
	const function, line = "hot", "hot.c:5"
	s := sideBySide(t, "lli-hot")
	perf := testrec.Tool(t, "perf")
	for file, right := range map[string]bool{s.ours: true, s.perf: false} {
		out := testrec.Run(t, s.dir, perf, "script", "-G", "-F", "ip,sym,srcline", "-i", file)
		if got := hottest(out, function); got == line != right {
			t.Errorf("perf script, %s: got hottest line %q; right is %s", filepath.Base(file), got, line)
		}
	}
	out := testrec.Run(t, s.dir, perf, "annotate", "--stdio", "-l", "-i", s.ours, function)
	_, summary, _ := strings.Cut(out, "-----\n\n")
	if first, _, _ := strings.Cut(strings.TrimSpace(summary), "\n"); !strings.HasSuffix(first, " "+line) {
		t.Errorf("perf annotate: got hottest line %q; want %s", first, line)
	}
}

// hottest returns the line that most samples of a function have. perf script
// prints the symbol and, on the next line, where it comes from.
func hottest(script, function string) (best string) {
	count := make(map[string]int)
	in := false
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if in {
			count[line]++
		}
		_, sym, _ := strings.Cut(line, " ")
		in = strings.Contains(sym, function) // of V8, its kind is before the name and the place after it
	}
	for line, n := range count {
		if n > count[best] {
			best = line
		}
	}
	return best
}

func recordBytes(t *testing.T, path string) (recs []string) {
	eachRaw(t, path, func(b []byte) { recs = append(recs, string(b)) })
	if len(recs) == 0 {
		t.Fatal(fmt.Errorf("%s holds no records", path))
	}
	return recs
}
