package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/nearest"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/terminal"
)

func newFlagSet(name string) *pflag.FlagSet {
	fs := pflag.NewFlagSet("jitinject "+name, pflag.ContinueOnError)
	fs.SortFlags = false
	fs.Usage = func() {}
	return fs
}

func commandOf(fs *pflag.FlagSet) string { return strings.TrimPrefix(fs.Name(), "jitinject ") }

// spell makes a command's options behave as those of perf: unambiguous abbreviations
// of long options, --no-OPTION for switches, and --help.
func spell(fs *pflag.FlagSet) {
	if fs.Lookup("help") == nil {
		fs.BoolP("help", "h", false, "print this text")
	}
	fs.VisitAll(func(f *pflag.Flag) {
		if kind := f.Value.Type(); kind != "bool" && kind != "count" || f.Name == "version" || f.Name == "help" {
			return
		}
		opposite, is := strings.CutPrefix(f.Name, "no-")
		if !is {
			opposite = "no-" + f.Name
		}
		if fs.Lookup(opposite) == nil {
			fs.Var(negated{f.Value}, opposite, "")
			fs.Lookup(opposite).NoOptDefVal = "true"
			fs.MarkHidden(opposite)
		}
	})
	// Last, for it looks at the names that are there.
	var names []string
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(unabbreviate(names, name))
	})
}

// parse reads the arguments of a command. It reports what to exit with if that was
// all: the command line made no sense, which was said, or asked for help.
func parse(fs *pflag.FlagSet, args []string, stdout *os.File, stderr io.Writer) (code int, done bool) {
	spell(fs)
	err := oneDash(fs, args)
	if err == nil {
		if err = fs.Parse(args); err != nil {
			err = spellingError(fs, err)
		} else {
			err = checkValues(fs)
		}
	}
	if err != nil {
		return refuse(fs, stderr, err), true
	}
	if asked, _ := fs.GetBool("help"); asked {
		if c := findCommand(commandOf(fs)); c != nil {
			return printText(stdout, stderr, commandHelp(c, programName(stderr), terminal.Width(stdout))), true
		}
		return exitOK, true
	}
	return exitOK, false
}

// refuse says why a command line makes no sense, and where to read more.
func refuse(fs *pflag.FlagSet, stderr io.Writer, err error) int {
	if errors.As(err, new(wrongFile)) { // it is not the command line that is wrong
		return fail(stderr, err)
	}
	more := "jitinject " + commandOf(fs) + " --help"
	switch commandOf(fs) {
	case "inject": // perf jitinject --help asks for a manual page
		more = "jitinject help inject"
	case "help":
		more = "jitinject help" // it lists commands and topics
	}
	end := "; "
	if strings.HasSuffix(err.Error(), "?") {
		end = " " // it has asked something
	}
	fmt.Fprintf(stderr, "jitinject: %s%ssee %s\n", quote.Printable(err.Error()), end, more)
	return exitUsage
}

// unabbreviate returns the one name that begins with the given one, or that
// itself. What is enough for perf inject is enough here; otherwise, its options that
// are none of ours count only where none of ours begins so.
func unabbreviate(names []string, name string) string {
	if name == "" || slices.Contains(names, name) {
		return name
	}
	perfs := slices.Contains(names, "jit") // they are those of the command inject
	var ours, foreign, shared []string
	for _, n := range names {
		if !strings.HasPrefix(n, name) {
			continue
		}
		if slices.Contains(foreignOptions, n) {
			foreign = append(foreign, n)
			continue
		}
		ours = append(ours, n)
		if perfs && slices.Contains(sharedOptions, strings.TrimPrefix(n, "no-")) {
			shared = append(shared, n)
		}
	}
	switch {
	case len(shared) == 1 && len(foreign) == 0:
		return shared[0]
	case len(ours) == 1:
		return ours[0]
	case len(ours) == 0 && len(foreign) == 1:
		return foreign[0]
	}
	return name // pflag says that it does not know it
}

// negated is --no-OPTION for a switch, or for one that counts.
type negated struct{ pflag.Value }

func (n negated) Set(s string) error {
	if n.Value.Type() == "count" {
		return n.Value.Set("0")
	}
	if s == "false" {
		return n.Value.Set("true")
	}
	return n.Value.Set("false")
}

// offOnly describes a switch that is on by default. The help has only its opposite.
func offOnly(fs *pflag.FlagSet, on *bool, name, text string) {
	fs.BoolVar(on, name, true, "")
	fs.MarkHidden(name)
	fs.Var(negated{fs.Lookup(name).Value}, "no-"+name, text)
	fs.Lookup("no-"+name).NoOptDefVal, fs.Lookup("no-"+name).DefValue = "true", "false"
}

// A usageError is a command line that cannot be carried out.
type usageError string

func (e usageError) Error() string { return string(e) }

// oneDash refuses -summary: it would be -s with a value, or several short options.
func oneDash(fs *pflag.FlagSet, args []string) error {
	for _, arg := range args {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if len(name) > 2 && !strings.HasPrefix(name, "-") && arg[0] == '-' && fs.Lookup(name) != nil {
			return usageError(fmt.Sprintf("-%s: did you mean --%s, with two dashes?", name, name))
		}
	}
	return nil
}

// goneOptions are options that commands had, and what to use instead.
var goneOptions = map[string]string{
	"dump stats":      "llvm-xray account -d counts the calls of a trace, and mprof-report those of a log of Mono",
	"dump no-samples": "perf report -D shows recordings",
}

// spellingError says in the words of this program what pflag could not read.
func spellingError(fs *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			return usageError(fmt.Sprintf("there is no option -%s", typed(name)))
		}
		if instead := goneOptions[commandOf(fs)+" "+name]; instead != "" {
			return usageError(fmt.Sprintf("there is no option --%s any more; %s", name, instead))
		}
		var meant, names []string
		for _, f := range visible(fs) {
			names = append(names, f.Name)
			if strings.HasPrefix(f.Name, name) {
				meant = append(meant, "--"+f.Name)
			}
		}
		if len(meant) > 1 {
			return usageError(fmt.Sprintf("--%s may be %s", typed(name), strings.Join(meant, " or ")))
		}
		no := ""
		if rest, is := strings.CutPrefix(name, "no-"); is {
			name, no = rest, "no-"
		}
		if near := nearest.Word(name, names); near != "" && fs.Lookup(no+near) != nil {
			return usageError(fmt.Sprintf("there is no option --%s%s; did you mean --%s%s?", no, typed(name), no, near))
		}
		return usageError(fmt.Sprintf("there is no option --%s%s", no, typed(name)))
	case errors.As(err, &missing):
		return usageError(fmt.Sprintf("--%s needs a value%s", missing.GetFlag().Name, choice(missing.GetFlag(), ": ")))
	case errors.As(err, &invalid):
		return usageError(fmt.Sprintf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), wanted(invalid.GetFlag())))
	}
	return usageError(err.Error())
}

// wanted says what kind of value an option takes.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64", "uint32", "uint64", "uintSlice":
		return "it takes a number"
	case "bool":
		return "it takes no value"
	}
	return "it is not a valid value"
}

// values returns the words that an option takes, from the name of its value in the
// usage: `text|json`. What is not one of them can be given only where a word in
// capitals stands among them: `auto|strict|NS`.
func values(f *pflag.Flag) (words []string, closed bool) {
	name, _ := pflag.UnquoteUsage(f)
	if !strings.Contains(name, "|") {
		return nil, false
	}
	closed = true
	for word := range strings.SplitSeq(name, "|") {
		if word == strings.ToLower(word) {
			words = append(words, word)
		} else {
			closed = false
		}
	}
	return words, closed
}

// choice says which values an option takes, behind some text; or nothing.
func choice(f *pflag.Flag, before string) string {
	words, closed := values(f)
	if !closed {
		return ""
	}
	return before + oneOf(words)
}

// oneOf joins words as people do: a, b or c.
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// checkValues refuses what is none of the words that an option takes.
func checkValues(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		words, closed := values(f)
		if value := f.Value.String(); err == nil && closed && f.Value.Type() == "string" && !slices.Contains(words, value) {
			err = usageError(fmt.Sprintf("--%s %s: invalid value; use %s%s", f.Name, typed(value), oneOf(words), didYouMean(value, words)))
		}
	})
	return err
}

// didYouMean asks whether the word that looks most like what was typed was meant.
func didYouMean(word string, words []string) string {
	if near := nearest.Word(word, words); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// typed is what was typed, safe to print.
func typed(typed string) string { return quote.Printable(typed) }
