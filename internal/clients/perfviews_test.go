package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A perfView is a way to look at a result with perf. parts divides what perf shows.
type perfView struct {
	args  string
	parts func(out string) []string
	// only has the view for perfs of a version, "" for all.
	only string
}

// perfViews are compared between layouts. Lines are asked for with jitted functions only, see
// addr2line. perf 6.1 starts an addr2line for each line of a caller in another file, so it shows
// lines of the sampled addresses.
var perfViews = []perfView{
	{"script --no-inline -F comm,tid,time,event,ip,sym,symoff,dso", samplesOfScript, ""},
	{"script -G -F comm,tid,time,event,ip,sym,symoff,srcline,dso", jittedLines, "6.1."},
	{"script -F comm,tid,time,event,ip,sym,symoff,srcline,dso", jittedSamples, "6.12."},
	{"script -F comm,tid,time,event,ip,sym,symoff,srcline,dso", jittedSamples, "7."},
	{"report --stdio -g none --no-children -n -s comm,sym", entriesOfReport, ""},
	{"report --stdio -g none --no-children -n -s dso,sym,srcline", jittedEntries, ""},
	{"report --stdio -g none --children -n -s dso,sym", filesOfReport, ""},
	{"report --stdio -g folded,0,caller,function,count --no-children -n -s dso,sym", entriesOfReport, ""},
	{"report --stdio -g folded,0,caller,function,count --no-children --no-inline -n -s dso,sym", entriesOfReport, ""},
	{"diff -s comm,dso,sym", filesOfReport, ""},
	{"annotate --stdio", functionsOfAnnotate, ""},
	{"annotate --stdio -l", functionsOfAnnotate, ""},
}

// viewTime bounds the time of a view. perf takes that for thousands of mappings or lines.
const viewTime = 30 * time.Second

// manyMappings is the number of mappings of which perf 6.12 takes a minute to read a result.
const manyMappings = 10_000

// inPerfViews compares all views of all perfs, or in make interop some by chance.
func (p *layoutPair) inPerfViews(t *testing.T, perfs map[string]string) {
	t.Helper()
	type perfAndView struct {
		version string
		view    perfView
	}
	var all []perfAndView
	for _, version := range slices.Sorted(maps.Keys(perfs)) {
		for _, v := range perfViews {
			if strings.HasPrefix(version, v.only) {
				all = append(all, perfAndView{version, v})
			}
		}
	}
	for _, c := range testrec.Chosen(t, all, len(all), 8) {
		t.Run(fmt.Sprintf("perf %s %s", c.version, c.view.args), func(t *testing.T) { p.compare(t, c.version, perfs[c.version], c.view) })
	}
}

// compare compares one view of both layouts.
func (p *layoutPair) compare(t *testing.T, version, perf string, v perfView) {
	t.Helper()
	if strings.HasPrefix(version, "6.12.") && p.single.summary.Mappings > manyMappings {
		testrec.Skip(t, "it takes too long for %d mappings", p.single.summary.Mappings)
	}
	if strings.HasPrefix(version, "6.12.") && strings.HasPrefix(v.args, "annotate") {
		v.args += " --asm-raw" // or it crashes at a branch out of a file, also with perf inject's objects
	}
	want, errSingle := p.show(t, p.single, perf, v)
	if errors.Is(errSingle, context.DeadlineExceeded) {
		testrec.Skip(t, "without bundles: %v", errSingle)
	}
	got, errBundle := p.show(t, p.bundle, perf, v)
	if errSingle != nil && strings.Contains(errSingle.Error(), "segmentation fault") {
		t.Fatalf("without bundles: %v; with them: %v", errSingle, errBundle)
	}
	if errSingle != nil {
		testrec.Skip(t, "it fails without bundles: %v; with them: %v", errSingle, errBundle)
	}
	if errBundle != nil {
		t.Fatalf("got %v with bundles; want what it shows without", errBundle)
	}
	if strings.HasPrefix(v.args, "diff") || strings.Contains(v.args, "--children") {
		got = asRounded(got, want)
	}
	if !slices.Equal(got, want) {
		// perf 6.12 and addr2line lose each other after names beyond ASCII (limits.md).
		if again, err := p.show(t, p.single, perf, v); err != nil || !slices.Equal(again, want) {
			testrec.Skip(t, "perf shows something else each time without bundles")
		}
	}
	jitted := func(part string) bool { return strings.Contains(part, "OBJECT") }
	noChains := len(want) == 0 && strings.Contains(v.args, "folded")
	if strings.Contains(v.args, "dso") && !noChains && !slices.ContainsFunc(want, jitted) {
		t.Error("got no jitted function; want some")
	}
	sameParts(t, v.args, got, want)
	t.Logf("%d parts", len(want))
}

// show returns the parts of a view of one side, or the way in which perf failed.
func (p *layoutPair) show(t *testing.T, s *side, perf string, v perfView) ([]string, error) {
	t.Helper()
	fields := strings.Fields(v.args)
	args := append([]string{"--buildid-dir", filepath.Join(s.dir, "unused"), fields[0], "-f"}, fields[1:]...)
	tools := p.addr2line(t)
	if fields[0] == "annotate" {
		// Code of the runtime, which may be large, is not of interest.
		args = append(args, "--objdump="+testrec.Tool(t, "objdump"), "--dsos="+s.sampled(t))
	}
	if hasAddr2line(t, perf, fields[0]) {
		args = append(args, "--addr2line="+filepath.Join(tools, "addr2line"))
	}
	if fields[0] == "diff" { // it shows functions that are in both
		args = append(args, s.perfData(), s.perfData())
	} else {
		args = append(args, "-i", s.perfData())
	}
	ctx, stop := context.WithTimeout(t.Context(), viewTime)
	defer stop()
	cmd := exec.CommandContext(ctx, perf, args...)
	model := testrec.Command(t, s.dir, perf, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = model.Dir, append(model.Env, testrec.PatientPerf(t), "PATH="+tools+":"+os.Getenv("PATH")), time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %.200s", errors.Join(ctx.Err(), err), stderr.Bytes())
	}
	return v.parts(string(out)), nil
}

// sampled returns the names of the objects with samples, separated by commas.
func (s *side) sampled(t *testing.T) string {
	t.Helper()
	if s.objects == "" {
		out := testrec.Run(t, s.dir, testrec.Tool(t, "perf"), "script", "-f", "-G", "--no-inline", "-F", "ip,sym,dso", "-i", s.perfData())
		s.objects = strings.Join(slices.Sorted(maps.Keys(objectsIn(out))), ",")
	}
	return s.objects
}

// addr2line returns a directory with an addr2line that knows the lines of our objects only. It
// takes minutes for those of other programs.
func (p *layoutPair) addr2line(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(p.dir, "tools")
	if len(matches(t, dir, "addr2line")) > 0 {
		return dir
	}
	tool := testrec.Tool(t, "addr2line")
	script := fmt.Sprintf("#!/bin/sh\nfile=$2\nshift 2\ncase $file in\n*/objects/*) ;;\n*) file=/bin/true ;;\nesac\nexec %s -e \"$file\" \"$@\"\n", tool)
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "addr2line"), []byte(script), 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// hasAddr2line reports whether a command of a perf has the option.
func hasAddr2line(t *testing.T, perf, command string) bool {
	t.Helper()
	help, _ := testrec.Command(t, t.TempDir(), perf, command, "-h").CombinedOutput()
	return bytes.Contains(help, []byte("--addr2line "))
}

// temporaryVDSO is the copy of the vDSO that perf 6.12 makes in each run.
var temporaryVDSO = regexp.MustCompile(`/\S*/perf-vdso\.so-\w+`)

// hitFile is a line of perf buildid-list, or a sample of perf script: it has an object.
var hitFile = regexp.MustCompile(`(?m)/\S*/(jit(?:ted|bundle)-[-0-9a-fx]+\.so)\)?$`)

// withHits wants that perf buildid-list --with-hits names the objects that samples are in, and the same other
// files. In make interop it asks one perf by chance.
func (p *layoutPair) withHits(t *testing.T, perfs map[string]string) {
	t.Helper()
	for _, version := range testrec.Chosen(t, slices.Sorted(maps.Keys(perfs)), len(perfs), 1) {
		perf := perfs[version]
		if strings.HasPrefix(version, "6.12.") && p.single.summary.Mappings > manyMappings {
			continue
		}
		var others [2]string
		for i, s := range []*side{p.single, p.bundle} {
			list := testrec.Run(t, s.dir, perf, "buildid-list", "-f", "--with-hits", "-i", s.perfData())
			hit := objectsIn(list)
			own := objectsIn(testrec.Run(t, s.dir, perf, "script", "-f", "-G", "--no-inline", "-F", "ip,sym,dso", "-i", s.perfData()))
			for object := range own {
				if !hit[object] {
					t.Errorf("perf %s: got no hit of %s, which has samples", version, object)
				}
			}
			all := objectsIn(testrec.Run(t, s.dir, perf, "script", "-f", "--no-inline", "-F", "ip,sym,dso", "-i", s.perfData()))
			for object := range hit {
				if !all[object] {
					t.Errorf("perf %s: got a hit of %s, which has no samples", version, object)
				}
			}
			if len(own) == 0 {
				t.Errorf("perf %s: got no objects with samples in %s; want some", version, s.dir)
			}
			lines := slices.DeleteFunc(strings.Split(list, "\n"), func(line string) bool { return hitFile.MatchString(line) })
			others[i] = temporaryVDSO.ReplaceAllString(strings.Join(lines, "\n"), "vdso")
		}
		if others[1] != others[0] {
			t.Errorf("perf %s: with bundles got\n%s\nwant\n%s", version, others[1], others[0])
		}
	}
}

// objectsIn returns the objects that lines end with.
func objectsIn(text string) map[string]bool {
	all := make(map[string]bool)
	for _, m := range hitFile.FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	return all
}
