package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/formats/display"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/stdio"
)

// dumpOptions are what the command line of jitinject dump says.
type dumpOptions struct {
	json, hex, disassemble, noSources, noPager bool
	pids, names, records                       []string
	address, time                              string
	program                                    string
	files                                      []string
}

func newDumpFlags(o *dumpOptions) *pflag.FlagSet {
	fs := newFlagSet("dump")
	fs.BoolVarP(&o.disassemble, "disassemble", "d", false, "show the code of functions, with their source lines and inlined calls")
	fs.BoolVar(&o.json, "json", false, "print JSON, one object a line")
	fs.BoolVarP(&o.hex, "hex", "x", false, "also show the bytes of each record")
	commaVar(fs, &o.pids, "pid", "show only records of process `PID`; separate several by commas")
	listVar(fs, &o.names, "name", "show only functions with `TEXT` in their names, or with names that match /REGEXP/; may be repeated")
	fs.StringVar(&o.address, "address", "", "show only records about `ADDRESS`, FIRST-LAST or START+SIZE (hexadecimal)")
	fs.StringVar(&o.time, "time", "", "show only records of `TIME` or FIRST-LAST: seconds as in perf script, or nanoseconds with the suffix ns")
	commaVar(fs, &o.records, "records", "show only records of `TYPE`, as in the output; separate several by commas")
	fs.StringVar(&o.program, "xray-binary", "", "name the functions of an XRay trace by `FILE`, the program that wrote it")
	fs.BoolVar(&o.noSources, "no-sources", false, "with -d, read no source files; lines show only text that the dump has")
	fs.BoolVar(&o.noPager, "no-pager", false, "do not start a pager")
	return fs
}

func (o *dumpOptions) options(stdin *os.File) (*show.Options, error) {
	opts := &show.Options{JSON: o.json, Hex: o.hex, Disassemble: o.disassemble, Program: o.program, Stdin: stdin, Formats: display.Formats()}
	if !o.noSources {
		opts.Sources = safefile.ReadSource
	}
	f := &opts.Filter
	return opts, cmp.Or(
		each("pid", o.pids, show.ParsePID, func(pid uint32) { f.PIDs = append(f.PIDs, pid) }),
		each("name", o.names, show.ParseName, func(name show.Name) { f.Names = append(f.Names, name) }),
		each("records", o.records, func(s string) (string, error) { return show.ParseType(s, opts.Formats) }, func(t string) { f.Types = append(f.Types, t) }),
		each("address", given(o.address), show.ParseAddress, func(r show.Range) { f.Address = r }),
		each("time", given(o.time), show.ParseTime, func(r show.Range) { f.Time = r }),
	)
}

// each takes in what the values of an option mean. The first that means nothing is an error.
func each[T any](option string, values []string, parse func(string) (T, error), take func(T)) error {
	for _, s := range values {
		v, err := parse(s)
		if err != nil {
			return usageError(fmt.Sprintf("--%s %s: %v", option, quote.Printable(s), err))
		}
		take(v)
	}
	return nil
}

// given returns the value of an option as a list, which is empty without one.
func given(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

func runDump(args []string, stdin, stdout *os.File, stderr io.Writer) int {
	var o dumpOptions
	fs := newDumpFlags(&o)
	if code, done := parse(fs, args, stdout, stderr); done {
		return code
	}
	if o.files = fs.Args(); len(o.files) == 0 {
		return refuse(fs, stderr, usageError("dump needs the name of a jitdump, a Mono log, an XRay trace, a capture of OpenJ9's metadata, a core dump, a V8 log or a perf map; - is standard input"))
	}
	opts, err := o.options(stdin)
	if err != nil {
		return refuse(fs, stderr, err)
	}
	out, closePager := stdout, func() {}
	if !o.noPager && !o.json {
		out, closePager = stdio.Paged(stdout, stderr)
	}
	code, problems := dumpFiles(&o, opts, out)
	closePager() // what is said comes behind what is shown
	for _, p := range problems {
		printError(stderr, p)
	}
	return code
}

// dumpFiles shows all files. Who reads the output may stop reading whenever they like.
func dumpFiles(o *dumpOptions, opts *show.Options, out *os.File) (code int, problems []error) {
	restore := stdio.ErrorForPipe()
	defer restore()
	matched, unmatched := false, false
	for _, name := range o.files {
		err := show.File(out, name, opts)
		var lost *show.LostOutput
		var damaged *show.Damaged
		shown := quote.Printable(name)
		if name == "-" {
			shown = "standard input"
		}
		if errors.Is(err, show.ErrNoMatch) {
			unmatched = true
			continue
		}
		matched = matched || err == nil || errors.As(err, &damaged)
		switch {
		case err == nil:
		case errors.As(err, &lost):
			if !stdio.IsClosed(lost) {
				problems = append(problems, err)
				code = max(code, exitIncomplete)
			}
			return code, problems
		case errors.As(err, &damaged):
			problems = append(problems, fmt.Errorf("%s: %w", shown, printable(err)))
			code = max(code, exitIncomplete)
		default:
			problems = append(problems, fmt.Errorf("%s: %w", shown, printable(err)))
			code = exitFailed
		}
	}
	if unmatched && !matched {
		problems = append(problems, o.noMatch())
	}
	return code, problems
}

// noMatch says that nothing was shown because of the options that choose.
func (o *dumpOptions) noMatch() error {
	var b strings.Builder
	for _, option := range []struct {
		name   string
		values []string
	}{{"pid", o.pids}, {"name", o.names}, {"address", given(o.address)}, {"time", given(o.time)}, {"records", o.records}} {
		for _, v := range option.values {
			b.WriteString(" --" + option.name + " " + quote.Printable(v))
		}
	}
	return errors.New("no record satisfies" + b.String())
}

// printable is err without what a terminal must not see.
func printable(err error) error { return errors.New(quote.Lines(err.Error())) }
