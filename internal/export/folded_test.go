package export

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/profile"
)

func TestFolded_Suffixes(t *testing.T) {
	want := `helper;other 1000000
node;[unknown] 1000000
node;main;run_[j] 1000000
node;main;run_[j];add_[i];add_[i] 2000000
node_worker;main;[libc.so.6] 1000000
node_worker;main;ksys_read_[k] 1000000
`
	if got := string(write(t, "folded", recorded())); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// Units of events differ: their sums stay apart.
func TestFolded_SeveralEvents(t *testing.T) {
	p := recorded()
	p.Events = append(p.Events, "page-faults", "unused")
	p.Samples[1].Event, p.Samples[1].Period = 1, 0
	got := string(write(t, "folded", p))
	for _, want := range []string{
		"cpu-clock:u;node;main;run_[j];add_[i];add_[i] 1000000\n",
		"page-faults;node;main;run_[j];add_[i];add_[i] 1\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got:\n%swant a line %q", got, want)
		}
	}
}

// A line is what flamegraph.pl reads: as many frames as there are, and one number.
func TestFolded_HostileNames(t *testing.T) {
	p := hostile()
	lines := strings.Split(strings.TrimSuffix(string(write(t, "folded", p)), "\n"), "\n")
	if len(lines) != len(p.Samples) {
		t.Fatalf("got %d lines; want %d", len(lines), len(p.Samples))
	}
	depths := make(map[int]bool)
	number, two := regexp.MustCompile(`^(.*) ([0-9]+)$`), regexp.MustCompile(`\s[0-9]+(\.[0-9]*)?$`)
	for _, line := range lines {
		m := number.FindStringSubmatch(line)
		if m == nil || two.MatchString(m[1]) {
			t.Errorf("got %.80q; want a stack and one number", line)
			continue
		}
		depths[strings.Count(m[1], ";")] = true
	}
	for i := range p.Samples {
		if !depths[i+1] {
			t.Errorf("got no line with a thread and %d frames", i+1)
		}
	}
}

func TestFoldedName_SeparatorsAndNumbers(t *testing.T) {
	for name, want := range map[string]string{
		"Lorg/A;.b(I)V": "Lorg/A:.b(I)V",
		"a\nb\tc\x00":   "a b c",
		"f 12":          "f_12",
		"f  1.5":        "f_1.5",
		"f12":           "f12",
		"12":            "12",
		"v1.2 x":        "v1.2 x",
		" \n":           "[unknown]",
		"operator new":  "operator new",
	} {
		if got := foldedName(name); got != want {
			t.Errorf("%q: got %q; want %q", name, got, want)
		}
	}
	if got := suffix(true, profile.JIT) + suffix(false, profile.Native); got != "_[i]" {
		t.Errorf("got %q; want only the suffix of the inlined call", got)
	}
}
