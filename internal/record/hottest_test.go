package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Outputs of three perfs for a recording of two events. Lines, and perf's
// sentences were removed.
func TestReadReport_OfThreePerfs(t *testing.T) {
	for _, version := range []string{"6.1", "6.12", "7.2"} {
		b, err := os.ReadFile(filepath.Join("testdata", "report-"+version+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		event, functions := readReport(string(b), 3)
		if !strings.HasPrefix(event, "cpu-clock") || len(functions) != 3 {
			t.Fatalf("%s: got event %q, functions %q; want 3 of cpu-clock", version, event, functions)
		}
		first := functions[0]
		if first.Name != "JS:*hot /home/u/hot.js:3:13" || !strings.HasSuffix(first.Share, "%") || !strings.HasPrefix(first.Object, "jitted-") {
			t.Errorf("%s: got %q; want hot in its object", version, first)
		}
		for _, f := range functions {
			if strings.Contains(f.Name, "[") || strings.TrimSpace(f.Name) != f.Name || strings.ContainsAny(f.Object, " \n") {
				t.Errorf("%s: got %q; want names alone", version, f)
			}
		}
		if _, all := readReport(string(b), 1000); len(all) != strings.Count(strings.Split(string(b), "of event '")[1], "%") {
			t.Errorf("%s: got %d functions; want all of cpu-clock, and none of task-clock", version, len(all))
		}
	}
}

func TestReadReport_OddLines(t *testing.T) {
	const head = "# Samples: 9  of event 'cycles:u'\n#\n"
	line := func(fields ...string) string { return strings.Join(fields, separator) + "\n" }
	for text, want := range map[string]HotFunction{
		head + line(" 1.00% ", "[.] a b  c", "x.so "):              {"1.00%", "a b  c", "x.so"},
		head + line("1.00%", "[k] do_it", "[kernel.kallsyms]"):     {"1.00%", "do_it", "[kernel.kallsyms]"},
		head + line("1.00%", "[.] [0] = f", "x.so"):                {"1.00%", "[0] = f", "x.so"},
		head + line("1.00%", "[.] 0x00000000004005d0", "[vdso]"):   {"1.00%", "0x00000000004005d0", "[vdso]"},
		head + line("1.00%", "[.] of event 'x'", "x.so"):           {"1.00%", "of event 'x'", "x.so"},
		head + line("1.00%", "[.] f#g", "x.so") + "# text\n":       {"1.00%", "f#g", "x.so"},
		head + line("# Overhead", "Symbol", "Shared Object") + "1": {},
		"": {},
	} {
		_, got := readReport(text, 5)
		if want == (HotFunction{}) && len(got) == 0 {
			continue
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q: got %q; want %q", text, got, want)
		}
	}
}

// perf's error is an error, and so is a file that is no recording.
func TestHottest_Errors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.data")
	write(t, path, "no recording")
	if _, functions, err := Hottest(testrec.Tool(t, "perf"), path, 5); err == nil {
		t.Errorf("got %q; want an error", functions)
	}
}
