package printed

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/words"
)

// A Preview is what an injection of a recording would show. Its texts have the names of options.
type Preview struct {
	Recording string          // its path
	Again     string          // the command that injects it
	Summary   *report.Summary // of a run with Options.Preview; nil if Err is set
	Err       error           // why nothing could be injected
}

// Previews are the previews of several recordings.
type Previews []Preview

// Of returns the preview of a recording, or nil.
func (all Previews) Of(path string) *Preview {
	if i := slices.IndexFunc(all, func(p Preview) bool { return p.Recording == path }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Recordings returns the paths of the recordings.
func (all Previews) Recordings() (paths []string) {
	for i := range all {
		paths = append(paths, all[i].Recording)
	}
	return paths
}

// Covers reports whether a file is a recording whose preview is printed, or a side file that one has read.
func (all Previews) Covers(path string) bool {
	for i := range all {
		if s := all[i].Summary; s != nil && !all[i].isResult() && (all[i].Recording == path || slices.ContainsFunc(s.Dumps, func(d report.DumpSummary) bool { return isSamePath(d.Path, path) })) {
			return true
		}
	}
	return false
}

// isSamePath reports whether two paths lead to one file.
func isSamePath(a, b string) bool {
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	first, err := sys.Stat(a)
	second, serr := sys.Stat(b)
	return err == nil && serr == nil && os.SameFile(first, second)
}

// isResult reports whether an earlier run made the recording.
func (p *Preview) isResult() bool { return p.Err == nil && p.Summary.AlreadyInjected > 0 }

// ToDo reports whether something will be missing, for a reason that somebody can act on.
func (p *Preview) ToDo() bool {
	idle := func(r report.Reason) bool {
		return r.Kind == report.ReasonInjected || r.Kind == report.ReasonNoSamples || r.Kind == report.ReasonNoJittedCode
	}
	return p.Err != nil || !p.isResult() && (!p.Summary.Complete() || isLate(p.Summary.Samples) || slices.ContainsFunc(p.Summary.Reasons, func(r report.Reason) bool { return !idle(r) }))
}

// manyEarly is how many samples before their code are no chance, if they are most.
const manyEarly = 10

// isLate reports whether dumps describe most code later than it runs: their times are wrong.
func isLate(s *report.SampleSummary) bool {
	return s != nil && s.Early >= manyEarly && s.Early > s.Resolved
}

// Preview prints how many samples a recording will show, what costs the others, and what to do.
func (o *Output) Preview(p *Preview) {
	if o.JSON {
		o.WriteJSON(p.json())
		return
	}
	if p.isResult() || o.Quiet && !p.ToDo() {
		return
	}
	name := quote.Printable(p.Recording)
	if p.Err != nil {
		fmt.Fprintf(o.W, "%s: this recording will show no jitted functions: %s\n", name, strings.TrimPrefix(p.Err.Error(), name+": "))
		return
	}
	s := p.Summary
	fmt.Fprintf(o.W, "%s: this recording will show %s\n", name, shownText(s))
	for i, problem := range s.Problems {
		if next := i + 1; next < len(s.Problems) && s.Problems[next].File == problem.File && s.Problems[next].Advice == problem.Advice {
			problem.Advice = ""
		}
		fmt.Fprintf(o.W, "    %s\n", problem)
	}
	if s.Samples != nil && s.Samples.Early > 0 {
		fmt.Fprintf(o.W, "    %s in code that a dump describes only later\n", words.Count(s.Samples.Early, "sample"))
	}
	for _, r := range s.Reasons {
		fmt.Fprintf(o.W, "    %s\n", r.Text)
		if r.Advice != "" {
			fmt.Fprintf(o.W, "        %s\n", r.Advice)
		}
	}
	if len(s.Dumps) > 0 {
		fmt.Fprintf(o.W, "    to see them: %s\n", p.Again)
	}
}

// shownText says how many samples in jitted code a result will show in functions.
func shownText(s *report.Summary) string {
	if s.Samples == nil {
		return fmt.Sprintf("%s; its samples cannot be counted", words.Count(int64(s.Functions()), "jitted function"))
	}
	all := s.Samples.InJIT + s.Samples.WithoutDump
	text := fmt.Sprintf("%s of %s in jitted code", words.Number(s.Samples.Resolved), words.Count(all, "sample"))
	if all == 0 {
		text = "no sample in jitted code"
		if n := s.Functions(); n > 0 {
			text += ", but its stacks may have some of " + words.Count(int64(n), "jitted function")
		}
	}
	return text
}

func (p *Preview) json() any {
	if p.Err != nil {
		return map[string]any{"file": p.Recording, "error": p.Err.Error()}
	}
	return map[string]any{"file": p.Recording, "samples": p.Summary.Samples, "already_injected": p.Summary.AlreadyInjected, "problems": p.Summary.Problems, "reasons": p.Summary.Reasons}
}
