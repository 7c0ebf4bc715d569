package inject

import (
	"slices"
	"strconv"
	"strings"
)

// What Mono's options say about its log. As Mono reads them: --profile=log, or
// --profile=log:OPTION,... with output=FILE among the options, where commas can be quoted.
// FILE is output.mlpd if nothing is said; +FILE is FILE.PID, -FILE (before Mono 5) is FILE;
// %p stands for the pid and %t for the time; |PROGRAM is a program that gets the log, and #N a
// descriptor that the log goes to.

// A monoOutput is where a process was told to write its log.
type monoOutput struct {
	pattern string // for filepath.Match
	option  string // what says so
	gone    bool   // it went into a program, or a descriptor
}

// defaultOutput is what Mono calls a log.
const defaultOutput = "output.mlpd"

// monoOutputs returns where the programs on perf record's command line were told to write
// logs. Where one has loaded the profiler all the same, it is in the usual place.
func (rec *recording) monoOutputs() (outputs []monoOutput) {
	add := func(o monoOutput) {
		if !slices.Contains(outputs, o) {
			outputs = append(outputs, o)
		}
	}
	for _, arg := range rec.cmdline {
		for _, o := range outputsOf(arg) {
			add(o)
		}
	}
	if len(outputs) == 0 {
		for pid := range rec.processes {
			if _, ok := rec.profilerLoaded(pid, 0); ok {
				return []monoOutput{{pattern: defaultOutput}}
			}
		}
	}
	return outputs
}

// outputsOf returns what one argument says. It may be a command for a shell, or an
// environment variable, with several options in it.
func outputsOf(arg string) (outputs []monoOutput) {
	const option = "--profile"
	for rest := arg; ; {
		i := strings.Index(rest, option)
		if i < 0 {
			return outputs
		}
		value := rest[i+len(option):]
		rest = value
		if i > 0 || len(arg) != len(option)+len(value) { // in the midst of others
			value, _, _ = strings.Cut(value, " ")
			value = strings.TrimRight(value, `'";)`)
		}
		if value == "" {
			value = "=log"
		}
		name, args, _ := strings.Cut(strings.TrimPrefix(value, "="), ":")
		if value[0] == '=' && strings.HasPrefix(name, "log") {
			outputs = append(outputs, outputOf(option+value, args))
		}
	}
}

// outputOf returns what the options of the log profiler say.
func outputOf(option, args string) monoOutput {
	o := monoOutput{pattern: defaultOutput, option: option}
	for _, arg := range splitMonoArgs(args) {
		name, value, has := strings.Cut(arg, "=")
		switch {
		case arg == "report":
			o.gone = true
		case name == "output" && has && value != "":
			switch value[0] {
			case '|', '#':
				o.gone = true
			case '+':
				o.pattern = outputPattern(value[1:] + ".%p")
			case '-':
				o.pattern = outputPattern(value[1:])
			default:
				o.pattern = outputPattern(value)
			}
		}
	}
	return o
}

// outputPattern makes a pattern of a file name with %p and %t.
func outputPattern(name string) string {
	name = literal(name)
	return strings.NewReplacer("%p", "[0-9]*", "%t", "[0-9]*").Replace(name)
}

// splitMonoArgs splits at commas that are not quoted, and takes quotes away.
func splitMonoArgs(args string) (split []string) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(args); i++ {
		switch c := args[i]; {
		case c == '\\':
			if i++; i < len(args) {
				b.WriteByte(args[i])
			}
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == ',':
			split = append(split, b.String())
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	return append(split, b.String())
}

// callDepth returns how many callers a call may have that Mono's profiler logs, and whether
// its arguments say so.
func callDepth(args string) (depth int64, given bool) {
	const standard = 100
	_, args, _ = strings.Cut(args, ":")
	for _, arg := range splitMonoArgs(args) {
		if value, ok := strings.CutPrefix(arg, "calldepth="); ok {
			if n, err := strconv.ParseInt(value, 10, 32); err == nil && n >= 0 {
				depth, given = n, true
			}
		}
	}
	if !given {
		return standard, false
	}
	return depth, given
}
