package printed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/terminal"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/words"
)

// An Output prints what is found. Errors of W are left to its owner.
type Output struct {
	W       io.Writer
	JSON    bool // an object on each line
	Quiet   bool // errors only
	All     bool // every diagnostic was asked for
	Colour  bool // severities have colours
	Explain func(rule string) (verify.Rule, bool)

	// Producer says that the reader is the author of a runtime.
	Producer bool

	// Escape escapes the characters of a JSON document that a terminal might obey.
	Escape func(document []byte) []byte

	advised map[string]bool // rules with advice given already
}

// forUser reports whether only what a user can act on is printed.
func (o *Output) forUser() bool { return !o.All && !o.Producer }

// Diagnostic prints a diagnostic, and the advice of its rule the first time.
func (o *Output) Diagnostic(c verify.Diagnostic) {
	if o.Quiet && c.Severity != verify.Error {
		return
	}
	if o.JSON {
		o.WriteJSON(c)
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
	if o.Colour {
		line = terminal.Colour(line)
	}
	o.W.Write(line)
	r, known := o.Explain(c.Rule)
	if producer || !known || o.advised[c.Rule] {
		return
	}
	if o.advised == nil {
		o.advised = make(map[string]bool)
	}
	o.advised[c.Rule] = true
	if o.forUser() {
		fmt.Fprintf(o.W, "    Usual cause: %s\n    %s\n", r.Cause, userAdvice(&r))
		return
	}
	fmt.Fprintf(o.W, "    Rule: %s\n    Usual cause: %s\n    Advice: %s\n", r.Statement, r.Cause, r.Advice)
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

// Result prints the lines at the end of a file.
func (o *Output) Result(file string, r *verify.Result) {
	if o.JSON || o.Quiet {
		return
	}
	name := quote.Printable(file)
	if r.Shown > 0 {
		fmt.Fprintf(o.W, "%s: this result shows %s of all %s in jitted functions\n", name, words.Number(r.Shown), words.Count(r.Samples, "sample"))
	}
	if o.forUser() {
		fmt.Fprintf(o.W, "%s: %s, %s: %s\n", name, r.Kind, r.Holds, userVerdict(r))
		return
	}
	verdict := "no problems found"
	if r.Errors+r.Warnings+r.Notes > 0 {
		verdict = fmt.Sprintf("%s, %s, %s", words.Count(int64(r.Errors), "error"), words.Count(int64(r.Warnings), "warning"), words.Count(int64(r.Notes), "note"))
	}
	if r.Complete {
		verdict += "; nothing is missing that perf could show"
	}
	fmt.Fprintf(o.W, "%s: %s, %s: %s\n", name, r.Kind, r.Holds, verdict)
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

func writerOf(kind string) string {
	if kind == formats.Recording {
		return "recording"
	}
	return "runtime"
}

// WriteJSON writes an object on a line of its own.
func (o *Output) WriteJSON(v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) == nil {
		o.W.Write(o.Escape(b.Bytes()))
	}
}
