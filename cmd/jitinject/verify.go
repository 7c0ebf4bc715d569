package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

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
	o.files = verifier.Files(o.files)
	ctx, stop := interruptible(signalled{stderr: stderr, what: ending("not everything was checked", exitFailed)})
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
		return usageError("verify needs the names of dumps, logs, captures, recordings or objects")
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
	out := &verifyOutput{w: bufio.NewWriter(stdout), json: o.json, quiet: o.quiet, explain: verifier.Explain, advised: make(map[string]bool), colour: terminal.HasColour(stdout)}
	opts := verify.Options{Emit: out.diagnostic, All: o.all, Recording: o.recording, Producer: o.producer}
	opts.Recordings, opts.Logs, opts.Dumps = formats.Beside(verifier, o.files)
	if o.producer && len(opts.Dumps) == 0 && !o.quiet {
		fmt.Fprintln(stderr, "jitinject: note: --producer is for jitdumps, and none of the files is one")
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) == nil {
		opts.Now = uint64(now.Nano())
	}
	code := exitOK
	for _, file := range o.files {
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
		if err != nil {
			fmt.Fprintf(stderr, "jitinject: %s\n", withName(file, err))
			code = exitFailed
		}
		if result.Errors > 0 {
			code = max(code, exitIncomplete)
		}
	}
	return code
}

// A verifyOutput prints complaints.
type verifyOutput struct {
	w           *bufio.Writer
	json, quiet bool
	explain     func(rule string) (verify.Rule, bool)
	advised     map[string]bool // rules with advice given already
	colour      bool            // severities have colours
}

func (o *verifyOutput) diagnostic(c verify.Diagnostic) {
	if o.quiet && c.Severity != verify.Error {
		return
	}
	if o.json {
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
	if producer {
		return
	}
	if !o.advised[c.Rule] {
		o.advised[c.Rule] = true
		if r, ok := o.explain(c.Rule); ok {
			fmt.Fprintf(o.w, "    Rule: %s\n    Usual cause: %s\n    Advice: %s\n", r.Statement, r.Cause, r.Advice)
		}
	}
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

// result prints the line at the end of a file.
func (o *verifyOutput) result(file string, r *verify.Result) {
	if o.json || o.quiet {
		return
	}
	verdict := "no problems found"
	if r.Errors+r.Warnings+r.Notes > 0 {
		verdict = fmt.Sprintf("%s, %s, %s", words.Count(int64(r.Errors), "error"), words.Count(int64(r.Warnings), "warning"), words.Count(int64(r.Notes), "note"))
	}
	if r.Complete {
		verdict += "; nothing is missing that perf could show"
	}
	fmt.Fprintf(o.w, "%s: %s, %s: %s\n", quote.Printable(file), r.Kind, r.Holds, verdict)
}
