package report

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/quote"
)

// A Setting is a field of Options that a message names. String returns its name in the words of the
// program: see [NameSettings].
type Setting struct {
	Field     string // name of the field
	Value     string // what it can be set to, or was; "" if any value will do
	Kind, PID string
	IsPath    bool // Value is a path, and not a placeholder such as DIR
	Again     bool // it is a proposal: a run with the same options, and this one
}

// name returns the words for a setting.
var name = Setting.inGo

// NameSettings sets the words for settings in messages: a program with a command line has options for
// them. nil is Go code in backquotes:
//
//	name another directory with `Options.Objects = DIR`
//
// Messages are made with these words, and so a program sets them once, before its first run.
func NameSettings(words func(Setting) string) {
	if words == nil {
		words = Setting.inGo
	}
	name = words
}

// String returns the setting in the words of the program.
func (s Setting) String() string { return name(s) }

func (s Setting) inGo() string {
	value, prefix := s.Value, ""
	if s.IsPath {
		value = strconv.Quote(value)
	}
	if s.Again {
		prefix = "again with "
	}
	switch {
	case s.Field == "SideFiles":
		var of string
		if s.Kind != "" {
			of = "Kind: " + s.Kind + ", "
		}
		if s.PID != "" {
			of += "PID: " + s.PID + ", "
		}
		return fmt.Sprintf("`%sOptions.SideFiles{%sPath: %s}`", prefix, of, value)
	case value != "":
		return fmt.Sprintf("`%sOptions.%s = %s`", prefix, s.Field, value)
	}
	return fmt.Sprintf("`%sOptions.%s`", prefix, s.Field)
}

// Mentioned returns the name of a setting. value is what to put there, such as DIR, or "".
func Mentioned(field, value string) string { return Setting{Field: field, Value: value}.String() }

// MentionedPath returns the name of a setting that has a path as its value.
func MentionedPath(field, path string) string {
	return Setting{Field: field, Value: path, IsPath: true}.String()
}

// MentionedFile returns the name of the setting for a side file. pid is a number, PID, or "". file is a
// placeholder.
func MentionedFile(kind, pid, file string) string {
	return Setting{Field: "SideFiles", Kind: kind, PID: pid, Value: file}.String()
}

// MentionedSideFile returns the name of the setting for the side file at a path.
func MentionedSideFile(kind, pid, path string) string {
	return Setting{Field: "SideFiles", Kind: kind, PID: pid, Value: path, IsPath: true}.String()
}

// osName matches what package os puts before an error: the call, and the name of the file.
var osName = regexp.MustCompile(`\b(open|openat|stat|statat|lstat|read|readdirent|readlink|seek) ([^:]+): `)

// About returns a text about a file, with its name before it and nowhere else: errors of package os begin
// with the name, too, and those of a codec with the name of the format, which is often that of the file.
func About(path, text string) string {
	name := quote.Printable(path)
	for _, again := range []string{path, name, filepath.Base(name)} {
		text = strings.TrimPrefix(text, again+": ")
	}
	return Once(name + ": " + text)
}

// Once returns a message in which an error of package os does not repeat the name of a file, and none has
// Go's own name of a standard stream: |0.
func Once(message string) string {
	for _, m := range osName.FindAllStringSubmatchIndex(message, -1) {
		if name := message[m[4]:m[5]]; name != "it" && (strings.HasPrefix(name, "|") || strings.Contains(message[:m[0]], name)) {
			return Once(message[:m[0]] + message[m[1]:])
		}
	}
	return message
}
