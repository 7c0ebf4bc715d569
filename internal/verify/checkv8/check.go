package checkv8

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/verify"
)

// A checker is a log that is being checked.
type checker struct {
	*verify.Reporter
	lines *lineReader
	known map[string]bool // rules that the current line is known to break

	// Of the isolate.
	scripts   []script
	byID      map[int64]int32     // indexes in scripts
	functions map[uint64]extent   // by address of the SharedFunctionInfo
	builtins  map[string]uint64   // addresses of code that an isolate logs once, by tag and name
	pending   [maxPending]*object // the latest objects: their source may follow
	created   int                 // number of functions' code objects
	latest    uint64              // time, in microseconds

	codes    []code // machine code of functions, for the dumps
	keep     bool   // codes are kept
	isolates int
	counts   counts
	lists    lists

	fragments, twice, back int // lines that are none of V8's, scripts that are there again, times that go back
}

// counts are the numbers of things in the log.
type counts struct{ lines, scripts, objects, sources, optimized, inlining int }

// An extent is the place of a function.
type extent struct {
	script     int32 // index in scripts, or noScript
	start, end int32 // in UTF-16 code units
}

// noScript is the script of functions without code-source-info.
const noScript = -1

// maxPending bounds the code objects that wait for their source. Threads of an isolate may create
// several at once.
const maxPending = 16

// checkFile checks a log, alone and beside dumps.
func checkFile(ctx context.Context, r *verify.Reporter, path string, opts *verify.Options) error {
	f, err := verify.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := newChecker(r)
	c.keep = len(opts.Dumps) > 0
	if err := c.check(ctx, f); err != nil {
		return err
	}
	return c.besideDumps(ctx, opts.Dumps)
}

func newChecker(r *verify.Reporter) *checker {
	return &checker{Reporter: r, known: make(map[string]bool)}
}

// check walks the log. The error is of reading, or ctx's.
func (c *checker) check(ctx context.Context, src io.Reader) error {
	c.Result.Holds = "nothing"
	c.lines = newLineReader(src)
	c.beginIsolate()
	for ; ; c.counts.lines++ {
		if c.counts.lines%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		clear(c.known)
		err := c.line()
		if err == io.EOF {
			break
		}
		if err != nil {
			return verify.PlainError(err)
		}
	}
	c.end()
	return nil
}

// beginIsolate forgets the addresses, numbers of scripts and times of an isolate.
func (c *checker) beginIsolate() {
	c.isolates++
	c.scripts, c.byID = nil, make(map[int64]int32)
	c.functions, c.builtins = make(map[uint64]extent), make(map[string]uint64)
	c.pending, c.created, c.latest = [maxPending]*object{}, 0, 0
}

// Violation says that the current line breaks a rule, at an offset in the line. A line breaks a rule
// once.
func (c *checker) Violation(rule string, at int, format string, args ...any) {
	if !c.known[rule] {
		c.known[rule] = true
		switch rule {
		case "v8log/kind", "v8log/fields":
			c.fragments++
		case "v8log/script-twice":
			c.twice++
		}
		say := c.Reporter.Violation
		say(rule, c.lines.at+int64(at), format, args...)
	}
}

// line checks the next line. It returns io.EOF at the end of the log.
func (c *checker) line() error {
	l := c.lines
	if l.begin("script-source,") {
		return c.scriptSource()
	}
	if err := l.rest(); err != nil {
		return err
	}
	kind := kindOf(l.line)
	checked, known := kinds[kind]
	switch {
	case l.cut:
		c.cut()
	case c.counts.lines == 0 && kind != "v8-version":
		c.Reporter.Violation("v8log/version", 0, "the first line begins with %q instead of v8-version", head(l.line))
	case !known:
		c.Violation("v8log/kind", 0, "no line of V8 begins with %q", head(l.line))
	case l.long:
		c.Violation("v8log/fields", 0, "the line of %s has more than %d bytes", kind, maxLine)
	case checked:
		return c.record(kind)
	}
	return nil
}

// cut says that the file ends inside a line.
func (c *checker) cut() {
	c.Violation("v8log/cut", 0, "the last line has no end: %q", head(c.lines.line))
}

// record checks a line of a kind that has rules.
func (c *checker) record(kind string) error {
	switch kind {
	case "v8-version":
		c.version()
	case "code-creation":
		return c.creation()
	case "code-source-info":
		c.source()
	case "sfi-move":
		if n := c.numbers(kind, "0x0x"); n != nil {
			if f, ok := c.functions[n[0]]; ok {
				delete(c.functions, n[0])
				c.functions[n[1]] = f
			}
		}
	case "code-move":
		c.numbers(kind, "0x0x")
	case "code-delete":
		c.numbers(kind, "0x")
	}
	return nil
}

// numbers reads the addresses of a line, 0x in form for each. It returns nil if the line does not have
// them.
func (c *checker) numbers(kind, form string) (list []uint64) {
	fields := bytes.Split(c.lines.line, []byte{','})[1:]
	if len(fields) != len(form)/2 {
		c.Violation("v8log/fields", 0, "%s has %s, not %d", kind, verify.Counted(len(fields), "field"), len(form)/2)
		return nil
	}
	at := len(kind) + 1
	for _, f := range fields {
		addr, ok := address(f)
		if !ok {
			c.notNumber(at, "address", f)
			return nil
		}
		list = append(list, addr)
		at += len(f) + 1
	}
	return list
}

// notNumber says that a field is no number.
func (c *checker) notNumber(at int, name string, field []byte) {
	c.Violation("v8log/number", at, "the field %s is %q", name, head(field))
}

// version checks the first line of an isolate.
func (c *checker) version() {
	if c.counts.lines > 0 {
		c.Violation("v8log/isolates", 0, "another log begins inside the file")
		c.beginIsolate()
	}
	fields := bytes.Split(c.lines.line, []byte{','})[1:]
	// The fifth is the embedder's, such as -node.25. d8 leaves it out.
	if len(fields) != 5 && len(fields) != 6 {
		c.Violation("v8log/fields", 0, "v8-version has %s, not 5 or 6", verify.Counted(len(fields), "field"))
		return
	}
	at := len("v8-version,")
	for i, f := range fields {
		if _, ok := number(f); !ok && (i < 4 || i == len(fields)-1) {
			c.notNumber(at, "of the version", f)
			return
		}
		at += len(f) + 1
	}
}

// end checks what shows at the end only.
func (c *checker) end() {
	n := &c.counts
	switch {
	case n.lines == 0:
		c.Reporter.Violation("v8log/version", 0, "the file is empty")
		return
	case n.sources == 0:
		c.Reporter.Violation("v8log/no-sources", -1, "none of %s is a code-source-info", verify.Counted(n.lines, "line"))
	}
	if c.fragments > 0 && c.twice+c.back > 0 {
		c.Reporter.Violation("v8log/isolates", -1, "isolates have written over each other's lines: %s cut, %d of %s are there again, and times go back %s",
			verify.Are(c.fragments, "line"), c.twice, verify.Counted(n.scripts, "script"), verify.Counted(c.back, "time"))
	}
	c.Result.Holds = fmt.Sprintf("%s, %s, %s of functions, %d optimized, %d with inlined calls",
		verify.Counted(n.lines, "line"), verify.Counted(n.scripts, "script"), verify.Counted(n.objects, "code object"), n.optimized, n.inlining)
}
