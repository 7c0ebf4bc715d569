package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/known"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/record"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/terminal"
	"github.com/jitinject/jitinject/internal/words"
)

// exitNoCommand is the exit code if the command does not exist, as that of env(1) and timeout(1).
const exitNoCommand = 127

// A recordOptions has what the command line of jitinject record says. All other options are perf's.
type recordOptions struct {
	output   string
	duration string // seconds, or a number with a unit
	runtimes []string
	inlines  bool
	verbose  int
	quiet    bool

	length  time.Duration   // what duration means
	options []record.Option // of perf record, without ours
	command []string
}

// newRecordFlags describes the options that are not perf's. record.Syntax reads them.
func newRecordFlags(o *recordOptions) *pflag.FlagSet {
	fs := newFlagSet("record")
	fs.StringVarP(&o.output, "output", "o", defaultOutput, "write the result to `NAME`; the recording and the files get names beside it")
	fs.StringVarP(&o.duration, "duration", "d", "", "end the recording after `SECONDS`; -d without a number is perf's")
	commaVar(fs, &o.runtimes, "runtime", "make only these runtimes write dumps, a `LIST` with commas: "+strings.Join(record.Runtimes(), ", "))
	offOnly(fs, &o.inlines, "inlines", "do not switch on V8's log, which has inlined calls of JavaScript")
	fs.CountVarP(&o.verbose, "verbose", "v", "print more, also by perf")
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "print only errors and problems")
	return fs
}

// readRecord reads a command line. done says that nothing is left to do.
func readRecord(o *recordOptions, perf string, args []string, stdout *os.File, stderr io.Writer) (code int, done bool) {
	fs := newRecordFlags(o)
	own := map[string]bool{"h": false, "help": false}
	fs.VisitAll(func(f *pflag.Flag) {
		if own[f.Name] = f.NoOptDefVal == ""; f.Shorthand != "" && f.Shorthand != "d" {
			own[f.Shorthand] = own[f.Name]
		}
	})
	syntax, err := record.ReadSyntax(perf, own)
	if err != nil {
		printError(stderr, err)
		return exitFailed, true
	}
	options, command, err := syntax.Split(args)
	if err != nil {
		return refuse(fs, stderr, usageError(err.Error())), true
	}
	o.command = command
	for _, option := range options {
		f := fs.Lookup(option.Name)
		if f == nil && len(option.Name) == 1 && option.Name != "d" {
			f = fs.ShorthandLookup(option.Name)
		}
		switch {
		case option.Name == "h" || option.Name == "help":
			return printText(stdout, stderr, commandHelp(findCommand("record"), programName(stderr), terminal.Width(stdout))), true
		case f == nil:
			o.options = append(o.options, option)
			continue
		case f.NoOptDefVal != "":
			option.Value = f.NoOptDefVal
		}
		if err := fs.Set(f.Name, option.Value); err != nil {
			return refuse(fs, stderr, spellingError(fs, err)), true
		}
		if f.Name == "verbose" {
			o.options = append(o.options, option)
		}
	}
	if err := o.check(fs); err != nil {
		return refuse(fs, stderr, err), true
	}
	return exitOK, false
}

// targets are the options of perf record that name what runs already.
var targets = []string{"a", "all-cpus", "p", "pid", "t", "tid", "u", "uid", "C", "cpu", "G", "cgroup"}

// check refuses what makes no sense.
func (o *recordOptions) check(fs *pflag.FlagSet) error {
	if fs.Changed("duration") {
		text := o.duration
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			text += "s"
		}
		var err error
		if o.length, err = time.ParseDuration(text); err != nil || o.length <= 0 {
			return usageError(fmt.Sprintf("--duration %s: it takes a number of seconds", typed(o.duration)))
		}
	}
	for _, name := range o.runtimes {
		if all := record.Runtimes(); !slices.Contains(all, name) {
			return usageError(fmt.Sprintf("--runtime %s: there are %s%s", typed(name), oneOf(all), didYouMean(name, all)))
		}
	}
	for _, name := range []string{"switch-output", "switch-output-event", "threads"} {
		if record.Find(o.options, name) != nil {
			return usageError(fmt.Sprintf("--%s makes more than one file; run perf record, and jitinject for each recording", name))
		}
	}
	if record.Find(o.options, "timestamp-filename") != nil {
		return usageError("--timestamp-filename gives the recording another name; name the result: -o NAME")
	}
	switch {
	case o.output == "" || strings.HasSuffix(o.output, "/"):
		return usageError("--output: the name is empty")
	case o.output == "-":
		return usageError("-o -: record writes files; run perf record -o - to write a recording to standard output")
	case o.command != nil && len(o.command) == 0, len(o.command) == 0 && record.Find(o.options, targets...) == nil:
		return usageError("what is to be recorded? Name a command (jitinject record node app.js), a running process (-p PID), or all (-a)")
	}
	return nil
}

func runRecord(args []string, stdout *os.File, stderr io.Writer) int {
	if len(args) > 0 && args[0] == record.ExecOption {
		printError(stderr, record.Exec(args[1:]))
		return exitNoCommand
	}
	var o recordOptions
	perf, err := record.FindPerf()
	if err != nil {
		if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
			return printText(stdout, stderr, commandHelp(findCommand("record"), programName(stderr), terminal.Width(stdout)))
		}
		return fail(stderr, err)
	}
	if code, done := readRecord(&o, perf, args, stdout, stderr); done {
		return code
	}
	self, err := os.Executable()
	if err != nil {
		return fail(stderr, err)
	}
	settings := record.Settings{Inlines: o.inlines, Only: o.runtimes, Agent: known.FindAgent()}
	if code, err := o.preflight(&settings, append([]string{self, "record"}, args...), stderr); err != nil {
		printError(stderr, err)
		return code
	}
	session := record.Session{Perf: perf, Self: self, Options: record.PerfOptions(o.options, o.command, o.verbose == 0), Command: o.command, Others: record.Find(o.options, targets...) != nil, Duration: o.length, Place: record.PlaceOf(o.output), Stderr: stderr}
	if err := session.Begin(settings); err != nil {
		if errors.Is(err, record.ErrNotOurs) {
			err = fmt.Errorf("%w: move it away, or name another result: -o other.jit.data", err)
		}
		return fail(stderr, err)
	}
	ending, err := session.Run()
	if err != nil {
		return fail(stderr, err)
	}
	if !ending.Recorded { // perf has said why
		if ending.Code != exitUsage {
			fmt.Fprintf(stderr, "jitinject: perf record made no recording; -v shows more of what it does\n")
			return exitFailed
		}
		return exitUsage
	}
	return endLike(ending, o.finish(&session, ending.Failure(o.command), stdout, stderr))
}

// preflight checks what would hurt the command, or make the recording useless. command is the command line
// of jitinject. The code goes with the error.
func (o *recordOptions) preflight(settings *record.Settings, command []string, stderr io.Writer) (code int, err error) {
	if err := record.Permitted(record.Find(o.options, "a", "all-cpus", "C", "cpu", "G", "cgroup") != nil); err != nil {
		return exitFailed, err
	}
	if st, err := sys.Stat(o.output); err == nil && st.IsDir() {
		return exitFailed, fmt.Errorf("%s is a directory; name a file: -o %s", typed(o.output), typed(filepath.Join(o.output, defaultOutput)))
	}
	dir := filepath.Dir(o.output)
	if !record.CanWrite(dir) {
		return exitFailed, fmt.Errorf("no files can be made in %s; change to another directory, or name one: -o /tmp/%s", quote.Printable(dir), typed(filepath.Base(o.output)))
	}
	for _, pid := range o.pids() {
		if err := record.Recordable(pid, command); err != nil {
			return exitFailed, err
		}
	}
	if len(o.command) == 0 {
		return exitOK, nil
	}
	if _, err := record.FindCommand(o.command[0]); err != nil {
		return exitNoCommand, fmt.Errorf("%s: %w", typed(o.command[0]), errors.Unwrap(err))
	}
	if settings.Has("node") && !record.CanWrite(".") {
		return exitFailed, errors.New("node writes its dump into the working directory, where no files can be made, and would print V8's log instead: change to another directory, or leave node out, as with --runtime java,python")
	}
	if settings.Has("java") && settings.Agent == "" && record.NeedsAgent(o.command) {
		fmt.Fprintln(stderr, "jitinject: the agent for Java is not installed, so functions of Java get no names: "+known.InstallAgent)
	}
	return exitOK, nil
}

func (o *recordOptions) pids() []string {
	if named := record.Find(o.options, "p", "pid"); named != nil {
		return strings.Split(named.Value, ",")
	}
	return nil
}

// finish collects the files of a recording, puts its functions in, and says what came of it. failure says
// how the command failed, or is "". It returns the exit code of that.
func (o *recordOptions) finish(session *record.Session, failure string, stdout *os.File, stderr io.Writer) int {
	place := session.Place
	collected, err := session.Collect()
	if err != nil {
		printError(stderr, err)
	}
	if code := prepare(stderr); code != exitOK {
		return code
	}
	args := []string{"-i", place.Recording, "-o", place.Result, "--bundle", "--objects", place.Files, "--dump-dir", place.Files, "--sources", filepath.Join(place.Files, "sources")}
	args = append(args, slices.Repeat([]string{"-v"}, o.verbose)...)
	if o.quiet {
		args = append(args, "-q")
	}
	for _, pid := range o.pids() {
		if n, err := strconv.Atoi(pid); err == nil && record.IsRunning(n) {
			args = append(args, "--live", pid)
		}
	}
	injected := options{failure: failure, partial: fmt.Sprintf("to inject %s: jitinject -i %s -o %s", quote.Printable(place.Recording), typed(place.Recording), typed(place.Result))}
	if !o.inlines && len(o.command) > 0 {
		injected.unlogged = "record without --no-inlines"
	}
	code := injected.run(args, os.Stdin, stdout, stderr)
	writeCollected(stderr, collected, o.quiet)
	if programs, stacks := session.NeedCopies(); len(programs) > 0 && !o.quiet && slices.Contains(session.Options, "-g") {
		fmt.Fprintf(stderr, "stacks of %s end early without copies; with them: jitinject record --call-graph %s ...\n", strings.Join(programs, ", "), stacks)
	}
	if err := place.Finish(code != exitFailed); err != nil && len(collected.Failed) == 0 {
		printError(stderr, err)
	}
	return code
}

// writeCollected says what is special about the files.
func writeCollected(w io.Writer, c *record.Collected, quiet bool) {
	for _, err := range c.Failed {
		printError(w, err)
	}
	if c.Refused != nil {
		fmt.Fprintf(w, "jitinject: %v; a process that a signal ended may lack the end of its dump\n", c.Refused)
	}
	if quiet {
		return
	}
	if n := len(c.Running); n > 0 {
		fmt.Fprintf(w, "%s; the files have what their dumps had at the end of the recording\n", words.Plural(n, "recorded process still runs", "recorded processes still run"))
	}
}

// endLike ends as the command did. own is the exit code of the rest, which counts only if the command
// went well and there is no result.
func endLike(ending record.Ending, own int) int {
	switch {
	case ending.Ended:
		ending = record.Ending{}
	case slices.Contains([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}, ending.Signal):
		signal.Reset(ending.Signal) // a shell's loop then ends, as it would with the command alone
		syscall.Kill(os.Getpid(), ending.Signal)
		time.Sleep(time.Second)
	}
	if ending.Code == 0 && own == exitFailed {
		return exitFailed
	}
	return ending.Code
}
