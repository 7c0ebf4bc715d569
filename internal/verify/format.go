package verify

import "context"

// A Format is a format of files that can be checked.
type Format struct {
	Kind  string // of its files, as Result has it
	Name  string // with its article
	Rules []Rule

	// Check checks a file. The error says that it could not be read, or is ctx's.
	Check func(ctx context.Context, r *Reporter, path string, opts *Options) error

	// HasName reports whether a file is to be checked as one of the format if its content does not show
	// one, because it is damaged. It may be nil.
	HasName func(path string) bool
}

// A Rule is something that has to hold of a file.
type Rule struct {
	Name      string   // KIND/WHAT
	Severity  Severity // of breaking it
	Statement string   // what has to hold
	Cause     string   // why it usually does not
	Advice    string   // what to do then

	// ForUsers says that Advice is for the users of a runtime, too. Advice about recordings, objects and
	// core dumps always is.
	ForUsers bool

	// User is the advice for users of a runtime, if that is not Advice.
	User string

	// Repaired says that results of jitinject show as much as if the rule held.
	Repaired bool

	// Counted says that an injection reports the same, with the number of samples that it costs.
	Counted bool
}
