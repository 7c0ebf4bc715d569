package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
)

// modes are the layouts of objects. perf with libdw treats files called /tmp/jitted-* otherwise: so
// there is one with objects in such a directory.
var modes = []struct {
	name                 string
	bundle, sampled, tmp bool
}{{"default", false, false, false}, {"bundle", true, false, false}, {"sampled", false, true, false}, {"both", true, true, false}, {"tmp", false, false, true}}

// shown is the number of losses of a kind that are listed.
const shown = 10

// TestResult_NeverWorseThanPerf compares all recordings.
func TestResult_NeverWorseThanPerf(t *testing.T) {
	testrec.Tool(t, "perf")
	perfs := testrec.Perfs(t)
	for _, name := range recordings() {
		t.Run(name, func(t *testing.T) {
			dir := testrec.Place(t, name)
			results := make(map[string]*inject.Summary)
			for _, m := range modes {
				objects := filepath.Join(dir, "objects-"+m.name)
				var err error
				if m.tmp {
					if objects, err = os.MkdirTemp("/tmp", "jitted-"); err != nil {
						t.Fatal(err)
					}
					defer os.RemoveAll(objects)
				}
				results[m.name], err = inject.Run(t.Context(), inject.Options{
					Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, m.name+".data"),
					Objects: objects, Bundle: m.bundle, Sampled: m.sampled,
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for version, perf := range perfs {
				if short(version) == "6.12" && results["default"].Mappings > 10_000 {
					continue // it takes minutes for them
				}
				t.Run(short(version), func(t *testing.T) { compare(t, dir, name, version, perf, results) })
			}
		})
	}
}

// recordings returns the recordings named by GATE_RECORDINGS, separated by spaces, or else
// all with dumps that perf inject reads.
func recordings() []string {
	if names := strings.Fields(os.Getenv("GATE_RECORDINGS")); len(names) > 0 {
		return names
	}
	return append(slices.Clone(testrec.Names), testrec.Stacks...)
}

// short returns the first two numbers of a version.
func short(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// compare compares the results under one perf.
func compare(t *testing.T, dir, name, version, perf string, results map[string]*inject.Summary) {
	raw, err := judge.Script(t.Context(), perf, filepath.Join(dir, "perf.data"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := perfInject(t, dir, perf)
	t.Logf("perf inject: %v", judge.CountOf(theirs))
	ours := make(map[string][]judge.Sample)
	for _, m := range modes {
		samples, err := judge.Script(t.Context(), perf, results[m.name].Output)
		if err != nil {
			t.Fatal(err)
		}
		ours[m.name] = samples
		count := judge.CountOf(samples)
		var losses []judge.Loss
		if theirs != nil {
			losses = judge.Compare(theirs, samples, judge.Stated...)
		}
		t.Logf("%s: %v; excused: %v", m.name, count, excused(losses))
		if len(samples) == 0 {
			t.Errorf("%s: perf script shows no samples", m.name)
		}
		if named := results[m.name].Samples.Resolved; int64(count.Named) != named {
			t.Errorf("%s: got %d samples in functions in the summary; want %d, as perf shows", m.name, named, count.Named)
		}
		report(t, m.name+" beside perf inject", judge.Real(losses))
		report(t, m.name+" beside the recording itself", judge.Real(judge.Compare(raw, samples, append(slices.Clone(judge.Stated), judge.JittedPart)...)))
		if least := floors[name][short(version)]; count.JittedWhole < least.whole || count.Frames < least.frames {
			t.Errorf("%s: %d stacks with jitted frames reach the bottom, of %d frames in all; want at least %d and %d", m.name, count.JittedWhole, count.Frames, least.whole, least.frames)
		}
	}
	for _, m := range modes[1:] {
		report(t, "the default beside "+m.name, judge.Real(judge.Compare(ours[m.name], ours["default"], judge.Stated...)))
		report(t, m.name+" beside the default", judge.Real(judge.Compare(ours["default"], ours[m.name], judge.Stated...)))
	}
}

// report fails the test for each loss, and lists the first ones.
func report(t *testing.T, what string, losses []judge.Loss) {
	t.Helper()
	if len(losses) == 0 {
		return
	}
	t.Errorf("%s: %s", what, judge.Summary(losses))
	told := make(map[judge.Kind]int)
	for i := range losses {
		if told[losses[i].Kind]++; told[losses[i].Kind] <= shown {
			t.Error(losses[i].String())
		}
	}
}

// perfInject returns the samples of a perf's own inject. Without a readable result, there
// is nothing to lose.
func perfInject(t *testing.T, dir, perf string) []judge.Sample {
	t.Helper()
	own := filepath.Join(dir, "perf-inject.data")
	cmd := testrec.Command(t, dir, perf, "--buildid-dir", "/dev/null", "inject", "--jit", "-f", "-i", "perf.data", "-o", own)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("perf inject fails: %v\n%s", err, out)
		return nil
	}
	samples, err := judge.Script(t.Context(), perf, own)
	if err != nil {
		t.Logf("perf script cannot read perf inject's result: %v", err)
		return nil
	}
	return samples
}

// excused counts the losses that each rule excuses, by the rule's name.
func excused(losses []judge.Loss) map[string]int {
	counts := make(map[string]int)
	for i := range losses {
		if rule := losses[i].Rule; rule != "" {
			counts[rule]++
		}
	}
	return counts
}
