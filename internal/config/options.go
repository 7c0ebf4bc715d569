package config

import (
	"fmt"
	"os"

	"github.com/jitinject/jitinject/internal/report"
)

// Options say what Run does. Input and Output are required, the zero value of
// everything else is useful.
type Options struct {
	Input  string // the recording: a file, a directory or a pipe; "-" is Stdin
	Output string // where the result goes; an existing file becomes Output.old; "-" is Stdout

	// Stdin and Stdout are read and written for "-". They are the process's own if
	// they are nil. A stream that can be read only once is written while it is read.
	Stdin, Stdout *os.File

	// Objects is the directory for the objects, made if it is not there. Empty
	// means beside each dump, where perf puts them.
	Objects string

	// Sources is a directory for the source files that dumps bring along, made if it
	// is not there. The objects refer to them there. Empty writes none.
	Sources string

	// EmbedSources puts the texts of such files, up to 64 KiB each, into the objects'
	// line tables as well (DW_LNCT_LLVM_source, DWARF 5 only). Binutils, and a perf
	// that uses its libraries or programs, read no lines from such objects.
	EmbedSources bool

	// BuildIDCache is a build-id cache, as perf keeps one in ~/.debug, into which the
	// objects are put as well: from there perf archive packs them up with the recording,
	// and perf finds them when those in Objects are gone. Empty fills none.
	BuildIDCache string

	// Bundle makes one object for each region of memory with code, instead of one for
	// each function. A stream that can be read only once gets one for each function all
	// the same.
	Bundle bool

	// CFI says which functions get unwind tables that are derived from their code,
	// because their runtime sends none.
	CFI CFI

	// Sampled makes objects only for those functions that something in Input touches:
	// the address of a sample, a callchain, a branch, a register, a data address, or a
	// word of a copied stack. And for those that the code of these branches to, which
	// perf annotate names. Where it cannot be told what is touched, all functions get
	// one, and the summary's Notes say why.
	Sampled bool

	// DumpDirs are searched for a dump that is neither where it was recorded nor
	// beside Input, and so are the directories in them.
	DumpDirs []string

	// Clock says what to do about a recording whose times are not those of the
	// dumps, because it was made without -k mono. "auto", or nothing, looks for
	// evidence of the difference; "strict" refuses it; a number of nanoseconds is
	// added to the times of dumps that count in CLOCK_MONOTONIC.
	Clock string
	// SideFiles are files that runtimes wrote, beside those that the recording names. Without
	// a kind, PID is required: the file is the dump of that process, of any kind, whatever the
	// recording says.
	SideFiles []SideFile

	// Programs are programs that wrote XRay traces, where those that the recording names are
	// gone or are other builds by now.
	Programs []string

	// Precompiled puts names from Mono's logs also over code that was compiled ahead of time
	// and lies in a file. Otherwise it is left to the symbols of that file.
	Precompiled bool

	// ShortNames leaves the parameters out of the names of Mono's methods.
	ShortNames bool

	// PID is the process of logs that do not say whose they are; 0 finds out.
	PID uint32

	// CodeFrom are files that have the code of processes whose dumps tell only where it
	// is: core dumps of them, or files that they had mapped. Earlier ones come first,
	// later ones fill what these lack.
	CodeFrom []string

	// Force reads an Input that belongs to someone else.
	Force bool

	// Strict treats everything that would be missing as an error: nothing is
	// written then.
	Strict bool

	// DWARF is the version of debugging information in the objects, 4 or 5; 0 is 5.
	DWARF int

	// Compress is zstd's level, 1 to 22, for compressing the records of the result;
	// 0 leaves them as they are.
	Compress int

	// Producer is named in the objects as what made them; empty is "jitinject".
	Producer string

	// Jobs is the number of objects made at once; 0 is one for each CPU. The
	// result does not depend on it.
	Jobs int

	// Progress, if it is not nil, is kept up to date with how far the run is.
	Progress *report.Progress

	// NoCount leaves out how many samples are in jitted code and in functions, which
	// takes one more walk through Input, beside the writing of Output.
	NoCount bool

	// Log, if it is not nil, gets a line for each step. Level 1 is what a user
	// may want to follow, higher levels are for finding faults.
	Log func(level int, line string)
}

// CFI says when unwind tables are derived from code.
type CFI int

const (
	CFIWhereUnwound CFI = iota // if the recording has copies of stacks, which perf unwinds by them
	CFIAlways
	CFINever
)

// A SideFile is a file that a runtime wrote, or a directory of such files.
type SideFile struct {
	Kind string // one of the Kind constants, or "" for a dump of any kind
	Path string
	PID  uint32 // the process of the recording that wrote it; 0 finds out, by what is in it
}

// String returns the file as a message names it.
func (f SideFile) String() string {
	pid := ""
	if f.PID != 0 {
		pid = fmt.Sprint(f.PID)
	}
	return report.MentionedFile(f.Kind, pid, report.NamedPath(f.Path))
}

// Named returns the side files of a kind.
func (o *Options) Named(kind string) (named []SideFile) {
	for _, f := range o.SideFiles {
		if f.Kind == kind {
			named = append(named, f)
		}
	}
	return named
}

// AnyDump is the kind of side files that are dumps of any kind, with a process.
const AnyDump = ""

// Logf writes a line to the log.
func (o *Options) Logf(level int, format string, args ...any) {
	if o.Log != nil {
		o.Log(level, fmt.Sprintf(format, args...))
	}
}
