package record

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/nearest"
	"github.com/jitinject/jitinject/internal/quote"
)

// A Syntax has the options of perf record, and of the command jitinject record. It tells where the
// options end and the recorded command begins.
type Syntax struct {
	names map[string]bool // by name without dashes: whether the next word is the value
}

// optionLine matches an option in perf's help. The value follows a space if it may be a word of its
// own, and "[=" if not.
var optionLine = regexp.MustCompile(`^ {4}(?:-(\w)| {3})(?:, | ?)(?:--([\w-]+))?(?:\s?(<)|(\[=)|\s|$)`)

// ReadSyntax asks a perf for its options. own are options that are not perf's: each name, without
// dashes, with whether it takes a value.
func ReadSyntax(perf string, own map[string]bool) (*Syntax, error) {
	out, err := exec.Command(perf, "record", "-h").CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("%s does not start: %w", quote.Printable(perf), err)
	}
	s := parseSyntax(string(out))
	if len(s.names) < 20 {
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return nil, fmt.Errorf("%s record -h lists no options; it prints: %s", quote.Printable(perf), quote.Printable(first))
	}
	for name, value := range own {
		s.names[name] = value
	}
	return s, nil
}

// parseSyntax reads perf's help.
func parseSyntax(help string) *Syntax {
	s := &Syntax{names: make(map[string]bool)}
	for line := range strings.Lines(help) {
		m := optionLine.FindStringSubmatch(line)
		if m == nil || m[1] == "" && m[2] == "" {
			continue
		}
		for _, name := range m[1:3] {
			if name != "" {
				s.names[name] = m[3] != ""
			}
		}
	}
	return s
}

// An Option is an option of the command line.
type Option struct {
	Name  string   // without dashes; the full name of an abbreviation
	Value string   // "" for none
	Words []string // as they were typed; nil for a letter in a cluster whose first letter has them
}

// Split separates the options from the command. Words after the first word that is no option, or
// after --, are the command. -d with a number is the option duration; perf's -d takes no value, and
// no command is a number. An unknown option is an error: its value would become the command.
func (s *Syntax) Split(args []string) (options []Option, command []string, err error) {
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "--":
			return options, args[i+1:], nil
		case len(word) < 2 || word[0] != '-':
			return options, args[i:], nil
		case isSeconds(strings.TrimPrefix(word, "-d")), word == "-d" && i+1 < len(args) && isDuration(args[i+1]):
			o := Option{Name: "duration", Value: word[2:], Words: []string{word}}
			if o.Value == "" {
				i++
				o.Value, o.Words = args[i], append(o.Words, args[i])
			}
			options = append(options, o)
		case strings.HasPrefix(word, "--"):
			o, err := s.long(word)
			if err != nil {
				return nil, nil, err
			}
			if s.names[o.Name] && !strings.Contains(word, "=") {
				if i++; i == len(args) {
					return nil, nil, fmt.Errorf("%s needs a value", word)
				}
				o.Value, o.Words = args[i], append(o.Words, args[i])
			}
			options = append(options, o)
		default:
			letters, needsValue, err := s.short(word)
			if err != nil {
				return nil, nil, err
			}
			if needsValue {
				if i++; i == len(args) {
					return nil, nil, fmt.Errorf("%s needs a value", word)
				}
				letters[len(letters)-1].Value = args[i]
				letters[0].Words = append(letters[0].Words, args[i])
			}
			options = append(options, letters...)
		}
	}
	return options, nil, nil
}

// isSeconds reports whether a word begins as a number.
func isSeconds(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }

// isDuration reports whether a word is a number, or one with units. 7z is a command.
func isDuration(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	if err != nil {
		_, err = time.ParseDuration(word)
	}
	return err == nil && isSeconds(word)
}

// long reads --NAME or --NAME=VALUE. perf takes a beginning that only one name has, and no- before any
// of them.
func (s *Syntax) long(word string) (Option, error) {
	name, value, _ := strings.Cut(word[2:], "=")
	if _, known := s.names[name]; !known {
		var all, full []string
		isNegated := false
		positive, _ := strings.CutPrefix(name, "no-")
		for known := range s.names {
			if len(known) == 1 {
				continue
			}
			all = append(all, known)
			if strings.HasPrefix(known, name) {
				full = append(full, known)
			}
			isNegated = isNegated || positive != name && strings.HasPrefix(known, positive) || strings.HasPrefix(known, "no-"+name)
		}
		switch {
		case len(full) == 1:
			name = full[0]
		case len(full) == 0 && !isNegated:
			advice := ""
			if near := nearest.Word(name, all); near != "" {
				advice = "; did you mean --" + near + "?"
			}
			return Option{}, fmt.Errorf("perf record has no option --%s%s", name, advice)
		}
	}
	return Option{Name: name, Value: value, Words: []string{word}}, nil
}

// short reads -abcVALUE. needsValue says that the last letter's value is the next word.
func (s *Syntax) short(word string) (letters []Option, needsValue bool, err error) {
	for at := 1; at < len(word); at++ {
		o := Option{Name: word[at : at+1]}
		rest := word[at+1:]
		switch takesValue, known := s.names[o.Name]; {
		case !known:
			return nil, false, fmt.Errorf("perf record has no option -%s", o.Name)
		case takesValue:
			o.Value, needsValue, at = rest, rest == "", len(word)
		case strings.Contains("zIS", o.Name): // values that may be missing follow without a space
			o.Value, at = rest, len(word)
		}
		letters = append(letters, o)
	}
	letters[0].Words = []string{word}
	return letters, needsValue, nil
}

// Find returns the last option with one of the names, or nil.
func Find(options []Option, names ...string) *Option {
	for i := len(options) - 1; i >= 0; i-- {
		if slices.Contains(names, options[i].Name) {
			return &options[i]
		}
	}
	return nil
}
