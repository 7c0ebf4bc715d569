package verify

import (
	"context"
	"io"
)

// A Format is a format of files that can be checked. Functions that a format has no use for
// are nil.
type Format struct {
	Kind  string // of its files, as Result has it
	Name  string // with its article
	Rules []Rule

	// Check checks a file. The error says that it could not be read, or is ctx's. Check is nil if files of
	// the format are not checked.
	Check func(ctx context.Context, r *Reporter, path string, opts *Options) error

	// Identify reports whether a file has the format. Of side files, the registry sets it.
	Identify func(src io.ReaderAt, path string) bool

	// Weak says that Identify looks at a few bytes which other files may have, too.
	Weak bool

	// Recognizes reports whether a file is to be checked as one of the format where no Identify knows
	// it, because it is damaged, or several do.
	Recognizes func(src io.ReaderAt, path string) bool

	// Holds reports whether a directory has files of the format that are used together.
	Holds func(dir string) bool

	// Readers are the programs that show files of the format, if Check is nil.
	Readers string
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
