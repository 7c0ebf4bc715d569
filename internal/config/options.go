package config

import (
	"fmt"
	"os"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
)

// Options are the settings of a run. inject.Options has the same fields, and documents those that have no
// comment here.
type Options struct {
	Input, Output string
	// DefaultInput and DefaultOutput say that the user did not name Input or Output. They are then
	// regular files or directories: a FIFO, a device or a link to one may be another user's trap.
	DefaultInput, DefaultOutput bool
	Stdin, Stdout               *os.File
	NoSync                      bool

	Objects, Sources         string
	EmbedSources, SourceMaps bool
	BuildIDCache             string
	Bundle, Sampled          bool
	CFI                      CFI
	DWARF, Compress          int
	Producer                 string

	DumpDirs    []string
	Clock       string
	SideFiles   []SideFile
	Programs    []string
	Precompiled bool
	// ShortNames omits the parameters from the names of Mono's methods.
	ShortNames bool
	PID        uint32
	CodeFrom   []string
	Live       []uint32

	Force, Strict, Preview, NoCount bool

	Jobs     int
	Progress *report.Progress
	Log      func(level int, line string)
	// Proposal, if it is not nil, returns the command that repeats the run with another setting.
	Proposal func(report.Setting) string
}

// CFI says when unwind tables are derived from code.
type CFI int

const (
	// CFIWhereUnwound derives them if the recording has copies of stacks, which perf unwinds
	// by them.
	CFIWhereUnwound CFI = iota
	// CFIAlways derives them always.
	CFIAlways
	// CFINever derives none.
	CFINever
)

// A SideFile is a file that a runtime wrote, or a directory of such files.
type SideFile struct {
	Kind string // one of the Kind constants, or "" for a dump of any kind
	Path string
	PID  uint32
}

// String returns the file as messages mention it.
func (f SideFile) String() string {
	pid := ""
	if f.PID != 0 || f.Kind == AnyDump {
		pid = fmt.Sprint(f.PID)
	}
	return report.MentionedSideFile(f.Kind, pid, f.Path)
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

// Again returns a proposal: the same run with another setting.
func (o *Options) Again(s report.Setting) string {
	if s.Again = true; o.Proposal != nil {
		return o.Proposal(s)
	}
	return s.String()
}

// Logf writes a line to the log, if there is one. Control characters are escaped: it may have texts of files.
func (o *Options) Logf(level int, format string, args ...any) {
	if o.Log != nil {
		o.Log(level, quote.Printable(fmt.Sprintf(format, args...)))
	}
}
