package report

import (
	"regexp"
	"strconv"
	"strings"
)

// Messages of the library name fields of Options, as Go code in backquotes would:
//
//	name another directory with `Options.Objects = DIR`
//
// A program with a command line replaces them by its own words: see [Replace].

// A Mention is a field of Options in a message.
type Mention struct {
	Field string // name of the field
	Value string // what it can be set to, or was; "" if any value will do
	Again bool   // it is a proposal: a run with the same options, and this one

	// Kind and PID are the kind and process of a file in SideFiles, or "". Value is its path.
	Kind, PID string
}

// Mentioned returns a mention of a field of Options. value names what to put there, such as DIR,
// or is "".
func Mentioned(field, value string) string {
	if value == "" {
		return "`Options." + field + "`"
	}
	return "`Options." + field + " = " + value + "`"
}

// MentionedPath returns a mention of a field that has a path as its value.
func MentionedPath(field, path string) string { return Mentioned(field, quoted(path)) }

// MentionedFile returns a mention of a side file. pid is a number, PID, or "".
func MentionedFile(kind, pid, path string) string {
	var b strings.Builder
	b.WriteString("`Options.SideFiles{")
	if kind != "" {
		b.WriteString("Kind: " + kind + ", ")
	}
	if pid != "" {
		b.WriteString("PID: " + pid + ", ")
	}
	b.WriteString("Path: " + path + "}`")
	return b.String()
}

// NamedPath returns a path for MentionedFile. Placeholders such as FILE need no conversion.
func NamedPath(path string) string { return quoted(path) }

// Again returns a mention as a proposal: a run with the same options, and that one.
func Again(mention string) string { return "`again with " + mention[1:] }

// quoted returns a path in quotes, so that nothing in it ends a mention.
func quoted(path string) string {
	return strings.ReplaceAll(strconv.Quote(path), "`", `\x60`)
}

var (
	mention  = regexp.MustCompile("`(again with )?Options\\.(\\w+)(?: = ([^`]*)|\\{([^`]*)\\})?`")
	sideFile = regexp.MustCompile(`^(?:Kind: ([^,]*), )?(?:PID: ([^,]*), )?Path: (.*)$`)
)

// Replace returns message with words(m) in place of each mention m of a field of Options, and with each
// file's name once: see Once.
func Replace(message string, words func(Mention) string) string {
	return Once(mention.ReplaceAllStringFunc(message, func(text string) string {
		parts := mention.FindStringSubmatch(text)
		m := Mention{Field: parts[2], Value: parts[3], Again: parts[1] != ""}
		if of := sideFile.FindStringSubmatch(parts[4]); of != nil {
			m.Kind, m.PID, m.Value = of[1], of[2], of[3]
		}
		if path, err := strconv.Unquote(m.Value); err == nil {
			m.Value = path
		}
		return words(m)
	}))
}
