package completion

import "strings"

// A Command is the first word of a command line.
type Command struct {
	Name    string
	Brief   string // its description, in a few words
	Options []Option
	Args    Value // each argument after the options
}

// An Option is one option of a command.
type Option struct {
	Short   string // its letter, or ""
	Long    string // its name, without dashes, or "" if it has a letter only
	Text    string // its description, in one line
	Repeats bool   // several on one command line add up
	Value   Value
}

// A Value is the word that an option takes, or an argument.
type Value struct {
	Kind  Kind
	Name  string   // as the usage has it: FILE, text|json
	Words []string // the words that are possible, or the patterns of files
}

// A Kind of value says which words are offered for it.
type Kind int

const (
	None     Kind = iota // there is no value
	Optional             // a value may follow in the same word, after a =
	Text                 // any text: no word is offered
	Word                 // one of Words
	File                 // a file with a name of one of Words; any file if there is none
	Dir                  // a directory
	Program              // only for arguments: a command line of another program, which ends the options
)

// Shells returns the shells that have a script.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script returns the script of a shell. ok is false if Shells has none of that name.
func Script(shell string, commands []Command) (script string, ok bool) {
	switch shell {
	case "bash":
		return bash(commands), true
	case "zsh":
		return zsh(commands), true
	case "fish":
		return fish(commands), true
	}
	return "", false
}

// isWord reports whether a value of this kind may be a word of its own.
func (k Kind) isWord() bool { return k != None && k != Optional }

// spellings returns all the ways to write an option.
func (o *Option) spellings() (all []string) {
	if o.Short != "" {
		all = append(all, "-"+o.Short)
	}
	if o.Long != "" {
		all = append(all, "--"+o.Long)
	}
	return all
}

// valued returns the spellings of the options whose value may be the next word, with spaces between.
func (c *Command) valued() string {
	var all []string
	for _, o := range c.Options {
		if o.Value.Kind.isWord() {
			all = append(all, o.spellings()...)
		}
	}
	return strings.Join(all, " ")
}

// quote returns a text as one word of a shell, between single quotes.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
