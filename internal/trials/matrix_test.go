package trials

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Every way to start, with ends that its program knows: in make interop also with three by chance, in its long
// form with all. The program behaves as it does alone, and
// its functions have names.
func TestRecord_WaysAndEnds(t *testing.T) {
	testrec.CanRecord(t)
	for i := range ways {
		w := &ways[i]
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			chosen := strings.Join(testrec.Chosen(t, strings.Fields(w.ends), 0, 3), " ")
			for j := range ends {
				e := &ends[j]
				if knows(w.often, e.name) || knows(chosen, e.name) {
					t.Run(e.name, func(t *testing.T) {
						s := w.site(t, "", 0)
						s.trial(w, e)
					})
				}
			}
			if w.often == "" && !all() {
				testrec.Skip(t, "JITINJECT_ALL is not set")
			}
		})
	}
}

// trial runs a program alone, then recorded, and compares.
func (s *site) trial(w *way, e *end) {
	s.t.Helper()
	alone := s.start(e.mode, e.terminal, append(strings.Fields(w.alone), w.words(s)...)...)
	if e.drive != nil {
		e.drive(alone)
	}
	code := alone.wait()
	alone.sweep()
	noted := s.signals()
	before, tmp := s.list(), leftInTmp()
	argv := []string{program, "record", "-F", "499"}
	if e.duration {
		argv = append(argv, "-d", "2")
	}
	p := s.start(e.mode, e.terminal, append(append(argv, strings.Fields(w.options)...), w.words(s)...)...)
	switch {
	case e.duration:
		code = 0
	case e.drive != nil:
		e.drive(p)
	}
	if got := p.wait(); got != code {
		s.t.Errorf("exit code %d, want %d as without jitinject\n%s", got, code, p.stderr.String())
	}
	got := s.signals()
	if e.once != "" && !w.indirect && (len(noted) != 1 || len(got) != 1 || got[0] != e.once) {
		s.t.Errorf("the program got the signals %q, and %q without jitinject; want one %s", got, noted, e.once)
	}
	p.sameOutput(w, alone)
	s.resolved(w, e, p)
	s.clean(w, p, before, tmp)
}

// ours matches the first line that jitinject prints after the program has ended.
var ours = regexp.MustCompile(`(?m)^(?:process +functions|dump +process|1 recorded process|\d+ recorded processes|jitinject: |perf\.jit\.data: |\S+ ended with exit code \d+, and )`)

// sameOutput wants the program's output as it is without jitinject, and jitinject's after it.
func (p *process) sameOutput(w *way, alone *process) {
	t := p.site.t
	t.Helper()
	numbers := regexp.MustCompile(`\d+(?:\.\d+)? m?s\b(?:, estimated \d+ s)?`) // times, as jest prints them
	same := func(a, b string) bool {
		return numbers.ReplaceAllString(a, "N") == numbers.ReplaceAllString(b, "N")
	}
	if got, want := p.stdout.String(), alone.stdout.String(); !same(got, want) {
		t.Errorf("standard output is %q, want %q as without jitinject", got, want)
	}
	text := p.stderr.String()
	at := ours.FindStringIndex(text)
	if at == nil {
		t.Errorf("there is no summary on standard error:\n%s", text)
		return
	}
	var theirs strings.Builder
	for line := range strings.Lines(text[:at[0]]) {
		if w.noise == "" || !strings.HasPrefix(line, w.noise) {
			theirs.WriteString(line)
		}
	}
	errors := func(text string) string { // a traceback depends on the moment of the signal
		before, _, _ := strings.Cut(text, "Traceback ")
		return before
	}
	if got, want := errors(theirs.String()), errors(alone.stderr.String()); !same(got, want) {
		t.Errorf("standard error of the program is %q, want %q as without jitinject", got, want)
	}
}

// least is the number of samples from which shares mean something.
const least = 20

// resolved wants names for the samples in code of JIT compilers.
func (s *site) resolved(w *way, e *end, p *process) {
	s.t.Helper()
	sum := s.summary()
	said := p.stderr.String()
	var owners []string
	inlines, quiet := 0, w.quiet == ""
	for _, d := range sum.Dumps {
		if d.Samples.Resolved >= least/2 || w.callers && d.Functions > least {
			owners = append(owners, d.Command)
		}
		inlines += d.WithInlines
		quiet = quiet || strings.HasPrefix(d.Command, w.quiet) && d.Functions > least
	}
	n := sum.Samples
	s.t.Logf("%d samples, %d in jitted code, %d resolved, %d without dump, functions with inlined calls: %d, dumps of %q", n.Total, n.InJittedCode, n.Resolved, n.WithoutDump, inlines, owners)
	for _, want := range w.dumps {
		at := slices.IndexFunc(owners, func(owner string) bool { return want == "" || strings.HasPrefix(owner, want) })
		if at < 0 {
			s.t.Errorf("no dump of %q has samples: %+v\n%s", want, sum.Dumps, said)
			return
		}
		owners = slices.Delete(owners, at, at+1)
	}
	if !quiet {
		s.t.Errorf("no dump of %q: %+v\n%s", w.quiet, sum.Dumps, said)
	}
	if w.inlines && inlines == 0 {
		s.t.Errorf("there are no inlined calls\n%s", said)
	}
	if w.callers {
		s.callers("py::hot:")
		return
	}
	if w.early {
		n.Resolved += n.Early
	}
	if n.InJittedCode < least || n.Resolved*100 < (n.InJittedCode+n.WithoutDump)*98 {
		s.t.Errorf("%d of %d samples in jitted code are resolved, %d have no dump; want 98 %%\n%s", n.Resolved, n.InJittedCode, n.WithoutDump, said)
	}
	_, hottest, _ := strings.Cut(said, "hottest functions")
	if !regexp.MustCompile(`\n *[\d.]+ %[^\n]*\b`+w.hot).MatchString(hottest) && w.hot != "" {
		s.t.Errorf("the hottest functions have no %s:\n%s", w.hot, said)
	}
}

// callers wants a function among the callers of most samples.
func (s *site) callers(name string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	samples, err := judge.Script(ctx, testrec.Tool(s.t, "perf"), s.path("perf.jit.data"))
	s.must(err)
	with := 0
	for i := range samples {
		if slices.ContainsFunc(samples[i].Frames, func(f judge.Frame) bool { return f.Jitted() && strings.HasPrefix(f.Symbol, name) }) {
			with++
		}
	}
	if with < least || with*3 < len(samples) {
		s.t.Errorf("%d of %d samples have a caller %s; want a third", with, len(samples), name)
	}
}

// clean wants only what the manual names to be left, and clean to remove that.
func (s *site) clean(w *way, p *process, before, tmp []string) {
	s.t.Helper()
	want := append(slices.Clone(before), "perf.data", "perf.jit.data", "perf.jit.files/")
	slices.Sort(want)
	if got := s.list(); !slices.Equal(got, want) {
		s.t.Errorf("the directory has %q, want %q\n%s", got, want, p.stderr.String())
	}
	argv := append(slices.Clone(s.via), program, "clean")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("clean: %v\n%s", err, out)
	}
	if got := s.list(); !slices.Equal(got, before) {
		s.t.Errorf("after clean the directory has %q, want %q", got, before)
	}
	for _, name := range leftInTmp() {
		if !slices.Contains(tmp, name) && ownedBy(name, p) {
			s.t.Errorf("%s was left", name)
		}
	}
}

// ownedBy reports whether a file in /tmp has the number of a dump that the summary names: other
// trials run at the same time.
func ownedBy(name string, p *process) bool {
	for _, m := range regexp.MustCompile(`(?m)^(\d+) `).FindAllStringSubmatch(p.stderr.String(), -1) {
		if strings.Contains(name, fmt.Sprintf("-%s.", m[1])) || strings.Contains(name, fmt.Sprintf("-%s-", m[1])) {
			return true
		}
	}
	return false
}
