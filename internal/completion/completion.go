package completion

import (
	"embed"
	"slices"
	"strconv"
	"strings"
)

// An Option is one option of a command.
type Option struct {
	Short    string // its letter, or ""
	Long     string // its name, without dashes, or "" if it has a letter only
	Text     string // its description, in one line
	Value    Value
	Optional bool // the value may be missing, and follows = in the same word
}

// A Value is the word that an option takes, or an argument.
type Value struct {
	Kind  Kind
	Words []string // of Word and File; for Program, how many of the words are its
}

// A Kind of value says which words a script offers for it.
type Kind string

const (
	None    Kind = ""        // there is no value
	Text    Kind = "text"    // any text: no word is offered
	Word    Kind = "words"   // one of Words, in lines of their own, each with a tab and its description if it has one
	File    Kind = "files"   // a file with a name of one of Words, which are patterns; any file if there is none
	Dir     Kind = "dirs"    // a directory
	Program Kind = "command" // only for arguments: a command line of another program, which ends the options
)

// String returns the value as scripts read it: the kind and, in the same line unless it is Word, the words.
func (v Value) String() string {
	separator := " "
	if v.Kind == Word {
		separator = "\n"
	}
	return strings.Join(append([]string{string(v.Kind)}, v.Words...), separator) + "\n"
}

//go:embed jitinject.bash jitinject.zsh jitinject.fish
var scripts embed.FS

// Shells returns the shells that have a script.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script returns the script of a shell. ok is false if Shells has none of that name.
func Script(shell string) (script string, ok bool) {
	text, err := scripts.ReadFile("jitinject." + shell)
	return string(text), err == nil
}

// Complete returns the candidates for the last word of a command line. words are all words after the name of a
// command, which has options and takes arguments of one kind.
func Complete(options []Option, argument Value, words []string) Value {
	last := len(words) - 1
	for i := 0; i <= last; i++ {
		word := words[i]
		isOption := strings.HasPrefix(word, "-")
		if argument.Kind == Program && (!isOption || word == "--" && i < last) {
			if isOption {
				i++
			}
			return Value{Program, []string{strconv.Itoa(len(words) - i)}}
		}
		name, _, hasValue := strings.Cut(word, "=")
		at := slices.IndexFunc(options, func(o Option) bool { return slices.Contains(o.spellings(), name) })
		switch {
		case !isOption:
		case i == last && hasValue && at >= 0:
			return options[at].Value
		case i == last:
			return Value{Word, lines(options)}
		case at >= 0 && !hasValue && !options[at].Optional && options[at].Value.Kind != None:
			if i++; i == last { // the next word is the value
				return options[at].Value
			}
		}
	}
	return argument
}

// lines returns all ways to write options, with their descriptions.
func lines(options []Option) (all []string) {
	for _, o := range options {
		for _, s := range o.spellings() {
			all = append(all, s+"\t"+o.Text)
		}
	}
	return all
}

func (o *Option) spellings() (all []string) {
	if o.Short != "" {
		all = append(all, "-"+o.Short)
	}
	if o.Long != "" {
		all = append(all, "--"+o.Long)
	}
	return all
}
