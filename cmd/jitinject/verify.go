package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/terminal"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/printed"
)

// verifyOptions are what the command line of jitinject verify says.
type verifyOptions struct {
	recording   string
	json, quiet bool
	all, rules  bool
	producer    bool
	explain     string
	files       []string
}

func newVerifyFlags(o *verifyOptions) *pflag.FlagSet {
	fs := newFlagSet("verify")
	fs.StringVar(&o.recording, "recording", "", "check dumps against the recording `FILE`; not needed if it is one of the files to check")
	fs.BoolVar(&o.json, "json", false, "print problems, or rules, as JSON, one object a line")
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "print only errors, and no counts")
	fs.BoolVar(&o.all, "all", false, "print all problems, also those that jitinject repairs")
	fs.BoolVar(&o.producer, "producer", false, "for authors of runtimes: print what jitinject repairs, too, and what dumps, once repaired, lack that perf could show; exit with 1 if there are errors")
	fs.BoolVar(&o.rules, "rules", false, "list all rules")
	fs.StringVar(&o.explain, "explain", "", "explain `RULE`: its usual cause and what to do; more rules may follow")
	return fs
}

func runVerify(args []string, stdout *os.File, stderr io.Writer) int {
	var o verifyOptions
	fs := newVerifyFlags(&o)
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	o.files = fs.Args()
	verifier := checks.Verifier()
	if err := o.check(verifier); err != nil {
		return refuse(fs, stderr, err)
	}
	switch {
	case o.rules:
		return explainRules(verifier.Rules(), o.json, false, stdout, stderr)
	case o.explain != "":
		var rules []verify.Rule
		for _, name := range append([]string{o.explain}, o.files...) {
			r, _ := verifier.Explain(name)
			rules = append(rules, r)
		}
		return explainRules(rules, o.json, true, stdout, stderr)
	}
	ctx, stop := interruptible(signalled{stderr: stderr, what: ending("not everything was checked", exitFailed)})
	defer stop()
	return verifyFiles(ctx, verifier, &o, stdout, stderr)
}

func (o *verifyOptions) check(verifier *verify.Verifier) error {
	if o.explain != "" {
		for _, name := range append([]string{o.explain}, o.files...) {
			if _, ok := verifier.Explain(name); !ok {
				return usageError(fmt.Sprintf("there is no rule %q; %s", name, likeRule(verifier.Rules(), name)))
			}
		}
		return nil
	}
	if o.rules && len(o.files) > 0 {
		return usageError("--rules lists all rules and takes no files; --explain RULE... is about some")
	}
	if len(o.files) == 0 && !o.rules {
		return usageError("verify needs the names of dumps, maps, recordings, objects or core dumps")
	}
	return nil
}

// likeRule says which rule may be meant by a name that none has.
func likeRule(rules []verify.Rule, name string) string {
	var like []string
	for _, r := range rules {
		if _, short, _ := strings.Cut(r.Name, "/"); strings.EqualFold(short, name) {
			like = append(like, r.Name)
		}
	}
	if len(like) == 0 {
		return "jitinject verify --rules lists them"
	}
	return "did you mean " + strings.Join(like, " or ") + "?"
}

func explainRules(rules []verify.Rule, asJSON, whole bool, stdout *os.File, stderr io.Writer) int {
	w := bufio.NewWriter(stdout)
	out := &printed.Output{W: w, Escape: forTerminals}
	for i, r := range rules {
		switch {
		case asJSON:
			out.WriteJSON(map[string]any{"rule": r.Name, "severity": r.Severity, "text": r.Statement, "cause": r.Cause, "advice": r.Advice})
		case whole:
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%s (%s)\n\n%s\n\nUsual cause: %s\n\nAdvice: %s\n", r.Name, r.Severity, r.Statement, r.Cause, r.Advice)
		default:
			fmt.Fprintf(w, "%-26s %-8s %s\n", r.Name, r.Severity, r.Statement)
		}
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintf(stderr, "jitinject: cannot write the rules: %v\n", err)
		return exitFailed
	}
	return exitOK
}

func verifyFiles(ctx context.Context, verifier *verify.Verifier, o *verifyOptions, stdout *os.File, stderr io.Writer) int {
	w := bufio.NewWriter(stdout)
	out := &printed.Output{W: w, JSON: o.json, Quiet: o.quiet, All: o.all, Producer: o.producer, Colour: terminal.HasColour(stdout), Explain: verifier.Explain, Escape: forTerminals}
	opts := verify.Options{Emit: out.Diagnostic, All: o.all, User: !o.all && !o.producer, Recording: o.recording, Producer: o.producer}
	if o.producer && !slices.ContainsFunc(o.files, isDump) && !o.quiet {
		fmt.Fprintln(stderr, "jitinject: note: --producer is for jitdumps, and none of the files is one")
	}
	previews := previewAll(ctx, o.files, o.recording)
	opts.Recordings, opts.Counted = previews.Recordings(), previews.Covers
	code := exitOK
	show := func(p *printed.Preview) {
		out.Preview(p)
		if p.ToDo() {
			code = max(code, exitIncomplete)
		}
	}
	for i := range previews {
		if ctx.Err() == nil && !slices.Contains(o.files, previews[i].Recording) {
			show(&previews[i])
		}
	}
	for _, file := range o.files {
		if p := previews.Of(file); p != nil && ctx.Err() == nil {
			show(p)
		}
		result, err := verifier.File(ctx, file, opts)
		if ctx.Err() != nil {
			w.Flush()
			fmt.Fprintln(stderr, "jitinject: interrupted; not everything was checked")
			return exitFailed
		}
		if err == nil {
			out.Result(file, &result)
		}
		if ferr := w.Flush(); ferr != nil {
			fmt.Fprintf(stderr, "jitinject: cannot write the problems: %v\n", ferr)
			return exitFailed
		}
		var unchecked *verify.UncheckedError
		switch {
		case errors.As(err, &unchecked):
			if !o.quiet {
				fmt.Fprintf(stderr, "jitinject: note: %s\n", withName(file, err))
			}
		case err != nil:
			fmt.Fprintf(stderr, "jitinject: %s\n", withName(file, err))
			code = exitFailed
		}
		if o.producer && result.Errors > 0 || !o.producer && result.ToDo > 0 {
			code = max(code, exitIncomplete)
		}
	}
	return code
}

func isDump(path string) bool { return formats.Identify(path) == formats.Jitdump }

// previewAll previews the recordings among files, and that which the user assigns to them. Side files and core
// dumps beside them are used if there is one recording: else it is unknown to which of them a file belongs.
func previewAll(ctx context.Context, files []string, assigned string) (all printed.Previews) {
	var recordings, cores []string
	var sides []config.SideFile
	for _, path := range files {
		kind := formats.Identify(path)
		st, err := sys.Stat(path)
		if err != nil && kind == formats.Unknown && !safefile.IsAbsent(err) {
			all = append(all, printed.Preview{Recording: path, Err: safefile.WithoutPath(err)})
			continue
		}
		if err == nil && st.IsDir() {
			var ok bool
			if kind, ok = formats.IsDirectory(path); !ok {
				kind = formats.Recording
			}
		}
		switch {
		case kind == formats.Recording:
			recordings = append(recordings, path)
		case kind == formats.Core:
			cores = append(cores, path)
		case formats.IsNamed(kind):
			sides = append(sides, config.SideFile{Kind: kind, Path: path})
		}
	}
	if assigned != "" && !slices.Contains(recordings, assigned) {
		recordings = append(recordings, assigned)
	}
	if len(recordings) != 1 {
		sides, cores = nil, nil
	}
	for _, path := range recordings {
		p := printed.Preview{Recording: path, Again: "jitinject -i " + quote.ShellWord(path)}
		for _, f := range sides {
			p.Again += " " + quote.ShellWord(f.Path)
		}
		for _, core := range cores {
			p.Again += " " + quote.ShellWord(core)
		}
		o := &options{Options: config.Options{Input: path}}
		o.addFiles()
		p.Summary, p.Err = engine.Run(ctx, config.Options{Input: path, Preview: true, DumpDirs: o.DumpDirs, SideFiles: sides, CodeFrom: cores, Force: true, Proposal: o.again})
		if p.Err != nil {
			p.Err = errors.New(report.Once(p.Err.Error()))
		} else {
			nameOnce(p.Summary)
			for i := range p.Summary.Problems {
				advice := &p.Summary.Problems[i].Advice
				*advice = inCommand(*advice, p.Again)
			}
		}
		all = append(all, p)
	}
	return all
}
