package config

import (
	"fmt"
	"os"

	"github.com/jitinject/jitinject/internal/report"
)

// Options are the settings of Run. Input and Output are required. All other fields have useful
// zero values.
type Options struct {
	// Input is the recording: a file, a directory or a pipe. "-" is Stdin.
	Input string
	// Output is where the result goes. An existing file becomes Output.old. "-" is Stdout.
	Output string

	// DefaultInput and DefaultOutput say that the user did not name Input or Output. They are then
	// regular files or directories: a FIFO, a device or a link to one may be another user's trap.
	DefaultInput, DefaultOutput bool

	// NoSync does not wait until the result is on the disk. A power cut soon after the run may then
	// lose it, or leave objects that are empty.
	NoSync bool

	// Stdin and Stdout are read and written for "-". They are the process's own if they are
	// nil. A pipe is copied to a file without a name first, in the directory of Output, or in that
	// for temporary files if Output is no file. So it must end.
	Stdin, Stdout *os.File

	// Objects is the directory for the objects. It is created if needed. If it is empty, each
	// object goes beside its dump, where perf puts it. Those of a perf map, or of a dump in a
	// running container, go beside Output.
	Objects string

	// Sources is a directory for the source files that dumps and their logs contain. It is created
	// if needed. The objects refer to the files there. If it is empty, none are written.
	Sources string

	// EmbedSources also puts embedded sources, up to 64 KiB each, into the objects' line
	// tables (DW_LNCT_LLVM_source, DWARF 5 only). Binutils, and a perf that uses its
	// libraries or programs, read no lines from such objects.
	EmbedSources bool

	// SourceMaps gives transpiled JavaScript the places and names of its original files, by the
	// source maps that scripts in V8's logs name.
	SourceMaps bool

	// BuildIDCache is a build-id cache, such as perf's in ~/.debug, that also gets the
	// objects. From there perf archive packs them with the recording, and perf finds them
	// when those in Objects are gone. If it is empty, no cache is filled.
	BuildIDCache string

	// Bundle makes one object for each region of memory with code, instead of one for each
	// function.
	Bundle bool

	// CFI says which functions get unwind tables that are derived from their code, because
	// their runtime sends none.
	CFI CFI

	// Sampled makes objects only for functions that Input refers to: by the address of a
	// sample, a callchain, a branch, a register, a data address, or a word of a copied stack.
	// Targets of branches in the code of those functions count as well, because perf annotate
	// names them. If the references are unknown, all functions get objects, and the summary's
	// Notes say why.
	Sampled bool

	// DumpDirs are searched for a dump that is neither where it was recorded nor beside
	// Input. Their subdirectories are searched as well.
	DumpDirs []string

	// Clock says how to treat a recording with other times than the dumps, because it was
	// made without -k mono. "auto" or "" estimates the difference. "strict" makes it a
	// problem. A number of nanoseconds is added to the times of dumps that count in
	// CLOCK_MONOTONIC.
	Clock string
	// SideFiles are files that runtimes wrote, in addition to those that the recording names.
	// Without a kind, PID is required: the file is then the dump of that process, of any
	// kind, even if the recording differs.
	SideFiles []SideFile

	// Programs are programs that wrote XRay traces. They are needed where those that the
	// recording names are gone, or are other builds by now.
	Programs []string

	// Precompiled also uses names from Mono's logs for code that was compiled ahead of time
	// and lies in a file. Otherwise the symbols of that file name it.
	Precompiled bool

	// ShortNames omits the parameters from the names of Mono's methods.
	ShortNames bool

	// PID is the process of logs that do not name theirs. 0 finds it out.
	PID uint32

	// CodeFrom are files with the code of processes that have only addresses in their dumps: core
	// dumps of them, or files that they had mapped. Earlier files take precedence. Later ones
	// supply what these lack.
	CodeFrom []string

	// Live are processes of the recording that still run: what core dumps of them would supply is
	// read from their memory, and the end of their jitdumps that they have not written yet. A pid must be the same for perf record and for Run, so processes of
	// another pid namespace need a core dump. Nothing stops the processes.
	Live []uint32

	// Force also reads an Input that belongs to someone else.
	Force bool

	// Strict turns everything that would be missing into an error, and then nothing is
	// written.
	Strict bool

	// DWARF is the version of debugging information in the objects, 4 or 5. 0 is 5.
	DWARF int

	// Compress is zstd's level for compressing the records of the result, 1 to 22. 0 leaves
	// them uncompressed.
	Compress int

	// Producer names the program that made the objects, in the objects. Empty is "jitinject".
	Producer string

	// Jobs is the number of objects made at once. 0 is one for each CPU. The result does not
	// depend on it.
	Jobs int

	// Progress, if it is not nil, is kept up to date with how far the run is.
	Progress *report.Progress

	// Preview ends the run before anything is written. The Summary has the counts of samples, the
	// problems that are known without making objects, and the reasons. Output is not used, and
	// Input must be a file or a directory.
	Preview bool

	// NoCount does not count the samples in jitted code and in functions. Counting takes one
	// more walk over Input, during the writing of Output.
	NoCount bool

	// Proposal, if it is not nil, returns the command that repeats the run with another setting.
	Proposal func(report.Setting) string

	// Log, if it is not nil, gets a line for each step. Level 1 is for users, higher levels
	// are for finding faults.
	Log func(level int, line string)
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
	// PID is the process of the recording that wrote it. 0 determines it from its contents.
	PID uint32
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

// Logf writes a line to the log, if there is one.
func (o *Options) Logf(level int, format string, args ...any) {
	if o.Log != nil {
		o.Log(level, fmt.Sprintf(format, args...))
	}
}
