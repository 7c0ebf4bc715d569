package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	engine "github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/words"
)

// A preview is what an injection of a recording would show.
type preview struct {
	recording string
	again     string          // the command that injects it
	summary   *engine.Summary // nil if err is set
	err       error           // why nothing could be injected
}

type previews []preview

// previewAll previews recordings. The side files among files are used if there is one recording: else
// it is unknown to which of them a file belongs.
func previewAll(ctx context.Context, recordings, files []string) (all previews) {
	var sides []engine.SideFile
	var cores []string
	for _, path := range files {
		kind := engine.Identify(path)
		if in, ok := engine.IdentifyDir(path); ok {
			kind = in
		}
		switch {
		case len(recordings) != 1:
		case kind == engine.KindCore:
			cores = append(cores, path)
		case engine.IsNamed(kind):
			sides = append(sides, engine.SideFile{Kind: kind, Path: path})
		}
	}
	for _, path := range recordings {
		p := preview{recording: path, again: "jitinject -i " + quote.ShellWord(path)}
		for _, f := range sides {
			p.again += " " + quote.ShellWord(f.Path)
		}
		for _, core := range cores {
			p.again += " " + quote.ShellWord(core)
		}
		p.summary, p.err = engine.Run(ctx, engine.Options{Input: path, Preview: true, SideFiles: sides, CodeFrom: cores, Force: true})
		if p.summary != nil {
			(&options{input: path, output: defaultOutput}).putInWords(p.summary)
		}
		all = append(all, p)
	}
	return all
}

// of returns the preview of a recording, or nil.
func (all previews) of(path string) *preview {
	if i := slices.IndexFunc(all, func(p preview) bool { return p.recording == path }); i >= 0 {
		return &all[i]
	}
	return nil
}

// covers reports whether a file is a recording whose preview is printed, or a side file that one has read.
func (all previews) covers(path string) bool {
	for i := range all {
		if s := all[i].summary; s != nil && !all[i].isResult() && (all[i].recording == path || slices.ContainsFunc(s.Dumps, func(d engine.DumpSummary) bool { return isSamePath(d.Path, path) })) {
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
	clean := func(path string) string {
		path, err := filepath.Abs(path)
		if resolved, rerr := filepath.EvalSymlinks(path); err == nil && rerr == nil {
			return resolved
		}
		return path
	}
	return clean(a) == clean(b)
}

// isResult reports whether an earlier run made the recording.
func (p *preview) isResult() bool { return p.err == nil && p.summary.AlreadyInjected > 0 }

// code returns the exit code: that something is missing, if somebody can do something about it.
func (p *preview) code() int {
	idle := func(r engine.Reason) bool {
		return r.Kind == engine.ReasonInjected || r.Kind == engine.ReasonNoSamples || r.Kind == engine.ReasonNoJittedCode
	}
	if p.err != nil || !p.isResult() && (!p.summary.Complete() || slices.ContainsFunc(p.summary.Reasons, func(r engine.Reason) bool { return !idle(r) })) {
		return exitIncomplete
	}
	return exitOK
}

// preview prints how many samples a recording will show, what costs the others, and what to do.
func (o *verifyOutput) preview(p *preview) {
	if o.opts.json {
		o.writeJSON(p.json())
		return
	}
	if p.isResult() || o.opts.quiet && p.code() == exitOK {
		return
	}
	name := quote.Printable(p.recording)
	if p.err != nil {
		fmt.Fprintf(o.w, "%s: this recording will show no jitted functions: %s\n", name, (&options{}).inWords(p.err.Error()))
		return
	}
	s := p.summary
	fmt.Fprintf(o.w, "%s: this recording will show %s\n", name, shownText(s))
	for i, problem := range s.Problems {
		if next := i + 1; next < len(s.Problems) && s.Problems[next].File == problem.File && s.Problems[next].Advice == problem.Advice {
			problem.Advice = ""
		}
		fmt.Fprintf(o.w, "    %s\n", problem)
	}
	for _, r := range s.Reasons {
		fmt.Fprintf(o.w, "    %s\n", r.Text)
		if r.Advice != "" {
			fmt.Fprintf(o.w, "        %s\n", r.Advice)
		}
	}
	if len(s.Dumps) > 0 || len(s.Traces) > 0 {
		fmt.Fprintf(o.w, "    to see them: %s\n", p.again)
	}
}

// shownText says how many samples in jitted code a result will show in functions.
func shownText(s *engine.Summary) string {
	switch {
	case s.Samples == nil:
		return fmt.Sprintf("%s; its samples cannot be counted", words.Count(int64(s.Functions()), "jitted function"))
	case len(s.Traces) > 0 && s.Samples.InJIT == 0:
		return "calls of " + words.Count(int64(len(s.Traces)), "log")
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

// json returns the preview as it is printed with --json.
func (p *preview) json() any {
	if p.err != nil {
		return map[string]any{"file": p.recording, "error": p.err.Error()}
	}
	return map[string]any{"file": p.recording, "samples": p.summary.Samples, "already_injected": p.summary.AlreadyInjected, "problems": p.summary.Problems, "reasons": p.summary.Reasons}
}
