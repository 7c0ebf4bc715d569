package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// A list is the value of an option that may be repeated. pflag's own lists are read and printed as
// CSV, by a package that the program needs for nothing else.
type list struct {
	texts  *[]string
	commas bool // a text is several, separated by commas
}

func (l list) String() string { return strings.Join(*l.texts, ",") }

func (l list) Type() string { return "list" }

func (l list) Set(text string) error {
	switch {
	case !l.commas:
		*l.texts = append(*l.texts, text)
	case text != "":
		*l.texts = append(*l.texts, strings.Split(text, ",")...)
	case *l.texts == nil: // an empty list is not an absent one
		*l.texts = []string{}
	}
	return nil
}

func listVar(fs *pflag.FlagSet, texts *[]string, name, usage string) {
	fs.Var(list{texts: texts}, name, usage)
}

// commaVar adds an option whose text may be several.
func commaVar(fs *pflag.FlagSet, texts *[]string, name, usage string) {
	fs.Var(list{texts: texts, commas: true}, name, usage)
}
