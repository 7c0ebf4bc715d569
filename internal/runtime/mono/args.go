package mono

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
)

// Mono's options for its log profiler: --profile=log, or --profile=log:OPTION,... with output=FILE
// among the options. Commas can be quoted. The default of FILE is output.mlpd. Mono replaces %p by
// the pid and %t by the time. Other forms:
//
//	+FILE     FILE.PID
//	-FILE     FILE (before Mono 5)
//	|PROGRAM  a program that reads the log
//	#N        a file descriptor for the log

// An output is the log file that an option names.
type output struct {
	Pattern string // for filepath.Match
	Option  string // option that names it
	Gone    bool   // the log went to a program or a descriptor
}

// defaultOutput is Mono's default name of a log.
const defaultOutput = "output.mlpd"

// outputs returns the log files in the options on perf record's command line.
func outputs(rec *recording.Recording) (outputs []output) {
	for _, arg := range rec.Cmdline {
		for _, o := range outputsOf(arg) {
			if len(outputs) < maxOutputs && !slices.Contains(outputs, o) {
				outputs = append(outputs, o)
			}
		}
	}
	return outputs
}

// outputsOf returns the log files that one argument names. The argument may be a shell command, or
// an environment variable, with several options in it.
func outputsOf(arg string) (outputs []output) {
	const option = "--profile"
	rest := arg
	for range maxOutputs {
		i := strings.Index(rest, option)
		if i < 0 {
			break
		}
		at := len(arg) - len(rest) + i
		rest = rest[i+len(option):]
		value := rest
		if at > 0 { // inside a longer argument
			value = restOfWord(arg, at)[len(option):]
		}
		if value == "" {
			value = "=log"
		}
		name, args, _ := strings.Cut(strings.TrimPrefix(value, "="), ":")
		if value[0] == '=' && strings.HasPrefix(name, "log") {
			outputs = append(outputs, outputOf(option+value, args))
		}
	}
	return outputs
}

// maxOutputs bounds the log files, and the examined options of one argument.
const maxOutputs = 100

// restOfWord returns the word at an offset of a command, unquoted as by a shell or by Mono in its
// environment. If the offset is just after an opening quote, the word ends at the closing one. If
// the quote opens earlier, it may contain several words.
func restOfWord(command string, at int) string {
	quote, begun := byte(0), 0
	for i := 0; i < at; i++ {
		switch c := command[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, i
		case c == quote:
			quote = 0
		}
	}
	within := quote != 0
	alone := within && begun == at-1 && (begun == 0 || strings.IndexByte(" \t\n;&|(", command[begun-1]) >= 0)
	var b strings.Builder
	for i := at; i < len(command); i++ {
		switch c := command[i]; {
		case within && !alone && strings.IndexByte(" \t\n", c) >= 0, within && !alone && c == quote:
			return b.String()
		case quote == 0 && strings.IndexByte(" \t\n;&|()<>", c) >= 0:
			return b.String()
		case c == '\\' && quote != '\'' && i+1 < len(command):
			if i++; quote == '"' && command[i] != '"' && command[i] != '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(command[i])
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// outputOf returns the log file that the options of the log profiler name.
func outputOf(option, args string) output {
	o := output{Pattern: defaultOutput, Option: option}
	for _, arg := range splitArgs(args) {
		name, value, has := strings.Cut(arg, "=")
		switch {
		case arg == "report":
			o.Gone = true
		case name == "output" && has && value != "":
			switch value[0] {
			case '|', '#':
				o.Gone = true
			case '+':
				o.Pattern = outputPattern(value[1:] + ".%p")
			case '-':
				o.Pattern = outputPattern(value[1:])
			default:
				o.Pattern = outputPattern(value)
			}
		}
	}
	return o
}

// outputPattern turns a file name with %p and %t into a pattern.
func outputPattern(name string) string {
	name = quote.Literal(name)
	return strings.NewReplacer("%p", "[0-9]*", "%t", "[0-9]*").Replace(name)
}

// splitArgs splits at unquoted commas, and removes quotes.
func splitArgs(args string) (split []string) {
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

// callDepth returns the maximum depth of calls that Mono's profiler logs. given reports whether its
// arguments set the depth.
func callDepth(args string) (depth int64, given bool) {
	const standard = 100
	_, args, _ = strings.Cut(args, ":")
	for _, arg := range splitArgs(args) {
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
