package inject

import "github.com/jitinject/jitinject/internal/report"

// A Setting is a field of [Options] that a message names.
type Setting struct {
	Field string // name of the field
	Value string // what it can be set to, or was; "" if any value will do
	// Kind and PID are the kind and process of a file in SideFiles, or "". Value is its path.
	Kind, PID string
	IsPath    bool // Value is a path, and not a placeholder such as DIR
	Again     bool // it is a proposal: a run with the same options, and this one
}

// NameSettings sets the words for settings in messages. nil is Go code in backquotes:
// `Options.Objects = DIR`. A program with a command line has options instead. It calls NameSettings
// once, before its first [Run], because messages are made with these words.
func NameSettings(words func(Setting) string) {
	if words == nil {
		report.NameSettings(nil)
		return
	}
	report.NameSettings(func(s report.Setting) string { return words(Setting(s)) })
}
