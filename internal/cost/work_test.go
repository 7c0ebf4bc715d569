package cost

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// program is the command, built so that it counts the statements it executes, and covdata is Go's
// tool that reads the counts.
var program, covdata string

func TestMain(m *testing.M) {
	if os.Getenv(usageFile) != "" {
		launch()
	}
	testrec.PrivateTmp()
	if flag.Parse(); testing.Short() {
		fmt.Println("SKIPPED: -short builds no program that counts its statements")
		return
	}
	dir, err := os.MkdirTemp("", "jitinject-cost-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "jitinject")
	build := exec.Command(goTool(), "build", "-cover", "-covermode=count", "-coverpkg=github.com/jitinject/jitinject/...", "-o", program, "../../cmd/jitinject")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	code := 1
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
	} else if out, err := exec.Command(goTool(), "tool", "-n", "covdata").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
	} else {
		covdata = strings.TrimSpace(string(out)) // itself: the go command takes longer than it
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func goTool() string { return cmp.Or(os.Getenv("GO"), "go") }

// A series is an input of any size.
type series struct {
	name string
	n    int // the smaller one of the sizes to compare
	make func(s *scene, n int)
}

// A mode is a way to inject.
type mode struct {
	name    string
	stacks  bool // the recording has copies of stacks
	pipe    bool
	options []string
}

var modes = []mode{
	{name: "plain"},
	{name: "stacks, bundle, sampled", stacks: true, options: []string{"--bundle", "--sampled"}},
	{name: "pipe of stacks", stacks: true, pipe: true},
}

const (
	// most is how much more work twice the input may be. It is 2 for one pass over it, and a
	// little more for sorting.
	most = 2.3
	// least is the work that each element of a series is at least, in statements. Less means
	// that the input does not reach what it tests.
	least = 3
)

// Each series runs in one mode, and in all of them with JITINJECT_ALL.
func TestWork_TwiceTheInput(t *testing.T) {
	for i, in := range slices.Concat(functionSeries, processSeries, recordSeries, damageSeries) {
		t.Run(in.name, func(t *testing.T) {
			tried := modes
			if os.Getenv("JITINJECT_ALL") == "" {
				tried = modes[i%len(modes):][:1]
			}
			for _, mode := range tried {
				t.Run(mode.name, func(t *testing.T) { in.compare(t, mode) })
			}
		})
	}
}

// compare injects an input of two sizes, and compares the work.
func (in series) compare(t *testing.T, mode mode) {
	t.Parallel()
	small, code := in.run(t, mode, in.n)
	large, again := in.run(t, mode, 2*in.n)
	if code != again {
		t.Fatalf("got exit code %d with %d, %d with %d; want equal ones", code, in.n, again, 2*in.n)
	}
	t.Logf("exit code %d; %d statements with %d, %d with %d: %.2f times as many", code, small.sum(), in.n, large.sum(), 2*in.n, float64(large.sum())/float64(small.sum()))
	if large.sum()-small.sum() < least*in.n {
		t.Errorf("got %d statements with %d, %d with %d; want %d more for each", small.sum(), in.n, large.sum(), 2*in.n, least)
	}
	if float64(large.sum()) > most*float64(small.sum()) || testing.Verbose() {
		t.Log(grown(small, large))
	}
	if float64(large.sum()) > most*float64(small.sum()) {
		t.Errorf("got %.2f times as many statements with twice the input, %d and %d; want at most %.1f times as many", float64(large.sum())/float64(small.sum()), small.sum(), large.sum(), most)
	}
}

// run injects an input and returns the statements that were executed, and the exit code.
func (in series) run(t *testing.T, m mode, n int) (counts, int) {
	t.Helper()
	s := newScene(t)
	if m.stacks {
		s.SampleType |= 1 << 13
	}
	in.make(s, n)
	s.write()
	args := append([]string{"inject", "-i", "perf.data"}, m.options...)
	if m.pipe {
		args = []string{"inject", "-i", "-"}
	}
	got := s.run(nil, args...)
	return got.statements, got.code
}

// counts has the executed statements, by place.
type counts map[string]int

func (c counts) sum() (n int) {
	for _, of := range c {
		n += of
	}
	return n
}

// readCounts reads what a run left.
func (s *scene) readCounts() counts {
	s.t.Helper()
	convert := exec.Command(covdata, "textfmt", "-i", "cover", "-o", "counts.txt")
	convert.Dir = s.dir // a comma in its name would end it
	if out, err := convert.CombinedOutput(); err != nil {
		s.t.Fatalf("got %v of covdata\n%s", err, out)
	}
	text, err := os.ReadFile(s.path("counts.txt"))
	s.must(err)
	c := make(counts)
	for line := range strings.Lines(string(text)) {
		// FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS TIMES
		if f := strings.Fields(line); len(f) == 3 && f[2] != "0" {
			statements, err1 := strconv.Atoi(f[1])
			times, err2 := strconv.Atoi(f[2])
			if err := cmp.Or(err1, err2); err != nil {
				s.t.Fatalf("got %q of covdata: %v", line, err)
			}
			c[f[0]] += statements * times
		}
	}
	return c
}

// grown returns the places with the largest growth.
func grown(small, large counts) string {
	places := make([]string, 0, len(large))
	for place := range large {
		places = append(places, place)
	}
	more := func(place string) int { return large[place] - 2*small[place] }
	slices.SortFunc(places, func(a, b string) int { return cmp.Or(more(b)-more(a), cmp.Compare(a, b)) })
	var b strings.Builder
	for _, place := range places[:min(len(places), 8)] {
		fmt.Fprintf(&b, "\n%10d %10d  %s", small[place], large[place], strings.TrimPrefix(place, "github.com/jitinject/jitinject/"))
	}
	return b.String()
}
