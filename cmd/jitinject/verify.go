package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	engine "github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/terminal"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/words"
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
	fs.BoolVar(&o.all, "all", false, "print all problems, not only ten for each rule")
	fs.BoolVar(&o.producer, "producer", false, "for authors of runtimes: report what dumps lack that perf could show")
	fs.BoolVar(&o.rules, "rules", false, "list all rules")
	fs.StringVar(&o.explain, "explain", "", "explain `RULE`: its usual cause and what to do; more rules may follow")
	return fs
}

// runVerify is the command verify.
func runVerify(args []string, stdout *os.File, stderr io.Writer) int {
	var o verifyOptions
	fs := newVerifyFlags(&o)
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	o.files = fs.Args()
	verifier := formats.Verifier()
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
	ctx, stop := interruptible(signalled{stderr: stderr, abandon: func() { abandon(append([]string{"verify"}, args...)) }})
	defer stop()
	return verifyFiles(ctx, verifier, &o, stdout, stderr)
}

// check finds what is wrong with the options.
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

// explainRules prints rules, with all that is said of them or on a line each.
func explainRules(rules []verify.Rule, asJSON, whole bool, stdout *os.File, stderr io.Writer) int {
	out := &verifyOutput{w: bufio.NewWriter(stdout)}
	for i, r := range rules {
		switch {
		case asJSON:
			out.writeJSON(map[string]any{"rule": r.Name, "severity": r.Severity, "text": r.Statement, "cause": r.Cause, "advice": r.Advice})
		case whole:
			if i > 0 {
				fmt.Fprintln(out.w)
			}
			fmt.Fprintf(out.w, "%s (%s)\n\n%s\n\nUsual cause: %s\n\nAdvice: %s\n", r.Name, r.Severity, r.Statement, r.Cause, r.Advice)
		default:
			fmt.Fprintf(out.w, "%-26s %-8s %s\n", r.Name, r.Severity, r.Statement)
		}
	}
	if err := out.w.Flush(); err != nil {
		fmt.Fprintf(stderr, "jitinject: cannot write the rules: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// verifyFiles checks the files one after the other.
func verifyFiles(ctx context.Context, verifier *verify.Verifier, o *verifyOptions, stdout *os.File, stderr io.Writer) int {
	out := &verifyOutput{w: bufio.NewWriter(stdout), opts: o, explain: verifier.Explain, advised: make(map[string]bool), colour: terminal.HasColour(stdout)}
	opts := verify.Options{Emit: out.diagnostic, All: o.all, User: !o.all && !o.producer, Recording: o.recording, Producer: o.producer}
	opts.Recordings, opts.Logs = formats.Beside(verifier, o.files)
	isDump := func(path string) bool { return verifier.KindOf(path) == engine.KindJitdump }
	if o.producer && !slices.ContainsFunc(o.files, isDump) && !o.quiet {
		fmt.Fprintln(stderr, "jitinject: note: --producer is for jitdumps, and none of the files is one")
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) == nil {
		opts.Now = uint64(now.Nano())
	}
	var previews previews
	if !o.producer {
		previews = previewAll(ctx, opts.Recordings, o.files)
		opts.Counted = previews.covers
	}
	code := exitOK
	for _, file := range o.files {
		if p := previews.of(file); p != nil {
			out.preview(p)
			code = max(code, p.code())
		}
		result, err := verifier.File(ctx, file, opts)
		if ctx.Err() != nil {
			out.w.Flush()
			fmt.Fprintln(stderr, "jitinject: interrupted; not everything was checked")
			return exitFailed
		}
		if err == nil {
			out.result(file, &result)
		}
		if ferr := out.w.Flush(); ferr != nil {
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

// A verifyOutput prints diagnostics.
type verifyOutput struct {
	w       *bufio.Writer
	opts    *verifyOptions
	explain func(rule string) (verify.Rule, bool)
	advised map[string]bool // rules with advice given already
	colour  bool            // severities have colours
}

// forUser reports whether only what a user can act on is printed.
func (o *verifyOutput) forUser() bool { return !o.opts.all && !o.opts.producer }

func (o *verifyOutput) diagnostic(c verify.Diagnostic) {
	if o.opts.quiet && c.Severity != verify.Error {
		return
	}
	if o.opts.json {
		o.writeJSON(c)
		return
	}
	line := []byte(quote.Printable(c.File))
	if c.Offset >= 0 {
		line = fmt.Appendf(line, ":%#x", c.Offset)
	}
	line = fmt.Appendf(line, ": %s: %s", c.Severity, quote.Printable(c.Text))
	producer := strings.HasPrefix(c.Rule, "producer/") // the report of a dump: one line each
	if producer {
		line = fmt.Appendf(line, ". %s", c.Advice)
	}
	line = fmt.Appendf(line, " [%s]\n", c.Rule)
	if o.colour {
		line = terminal.Colour(line)
	}
	o.w.Write(line)
	r, known := o.explain(c.Rule)
	if producer || !known || o.advised[c.Rule] {
		return
	}
	o.advised[c.Rule] = true
	if o.forUser() {
		fmt.Fprintf(o.w, "    Usual cause: %s\n    %s\n", r.Cause, userAdvice(&r))
		return
	}
	fmt.Fprintf(o.w, "    Rule: %s\n    Usual cause: %s\n    Advice: %s\n", r.Statement, r.Cause, r.Advice)
}

// userAdvice returns what a user of a runtime does if a rule is broken.
func userAdvice(r *verify.Rule) string {
	switch {
	case r.User != "":
		return "Advice: " + r.User
	case !r.ForUsers && (strings.HasPrefix(r.Name, "dump/") || strings.HasPrefix(r.Name, "perfmap/")):
		return "For the authors of the runtime: " + r.Advice
	}
	return "Advice: " + r.Advice
}

// result prints the lines at the end of a file.
func (o *verifyOutput) result(file string, r *verify.Result) {
	if o.opts.json || o.opts.quiet {
		return
	}
	name := quote.Printable(file)
	if r.Shown > 0 {
		fmt.Fprintf(o.w, "%s: this result shows %s of all %s in jitted functions\n", name, words.Number(r.Shown), words.Count(r.Samples, "sample"))
	}
	if o.forUser() {
		fmt.Fprintf(o.w, "%s: %s, %s: %s\n", name, r.Kind, r.Holds, userVerdict(r))
		return
	}
	verdict := "no problems found"
	if r.Errors+r.Warnings+r.Notes > 0 {
		verdict = fmt.Sprintf("%s, %s, %s", words.Count(int64(r.Errors), "error"), words.Count(int64(r.Warnings), "warning"), words.Count(int64(r.Notes), "note"))
	}
	if r.Complete {
		verdict += "; nothing is missing that perf could show"
	}
	fmt.Fprintf(o.w, "%s: %s, %s: %s\n", name, r.Kind, r.Holds, verdict)
}

// userVerdict says which faults a file has, and which of them cost nothing.
func userVerdict(r *verify.Result) string {
	var parts []string
	if r.ToDo > 0 {
		parts = append(parts, words.Count(int64(r.ToDo), "fault"))
	}
	if r.Repaired > 0 {
		parts = append(parts, fmt.Sprintf("repaired by jitinject: %s of its %s (--all shows them)", words.Count(int64(r.Repaired), "fault"), writerOf(r.Kind)))
	}
	if len(parts) == 0 {
		return "no faults"
	}
	return strings.Join(parts, "; ")
}

// writerOf returns what wrote the files of a kind.
func writerOf(kind string) string {
	if kind == engine.KindRecording {
		return "recording"
	}
	return "runtime"
}

// writeJSON writes an object on a line of its own.
func (o *verifyOutput) writeJSON(v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) == nil {
		o.w.Write(forTerminals(b.Bytes()))
	}
}
