package formats

import (
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/calltrace"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/runtime/perfmap"
	"github.com/jitinject/jitinject/internal/runtime/v8"
	"github.com/jitinject/jitinject/internal/runtime/xray"
)

// A Format is a format of side files, with the functions that a run needs. Those that a format does not
// need are nil.
type Format struct {
	Kind string // as in the summary and in Options
	Name string // with its article

	// Identify reports whether a file has the format, by its first bytes or its neighbour files.
	Identify func(src io.ReaderAt, path string) bool

	// Holds reports whether a directory has files of the format that are used together.
	Holds func(dir string) bool

	// Dump finds files of the format and opens them as dumps of functions.
	Dump locate.Format

	// Calls opens files of the format as traces of calls. Event is the name of their event in a
	// recording, unless that is taken.
	Calls calltrace.Opener
	Event string
}

// All are all formats. If several accept a file, the first counts.
var All = []Format{
	{
		Kind: jitdumps.Kind, Name: "a jitdump", Identify: jitdumps.Identify,
		Dump: locate.Format{Open: jitdumps.Open, Other: jitdumps.ErrNotJitdump},
	},
	{
		Kind: mono.Kind, Name: "a log of Mono's profiler", Identify: mono.Identify,
		Dump:  locate.Format{Open: mono.Open, Other: mono.ErrNotLog, Prepare: mono.Prepare, Find: mono.Find, Explain: mono.Explain, Check: mono.DropUnmapped},
		Calls: mono.Traces, Event: mono.Event,
	},
	{
		Kind: xray.Kind, Name: "an XRay trace", Identify: xray.Identify,
		Calls: xray.Traces, Event: xray.Event,
	},
	{
		Kind: openj9.Kind, Name: "a capture of OpenJ9's metadata", Identify: openj9.Identify, Holds: openj9.HasCaptures,
		Dump: locate.Format{Find: openj9.Find},
	},
	{
		Kind: gdbjit.Kind, Name: "objects that a process registered for debuggers", Identify: gdbjit.Identify,
		Dump: locate.Format{Find: gdbjit.Find},
	},
	{
		Kind: v8.Kind, Name: "a log of V8", Identify: v8.Identify,
		Dump: locate.Format{Open: v8.Open, Other: v8.ErrNotLog, Complete: v8.Complete},
	},
	{ // the last: it looks for maps of processes that have nothing else
		Kind: perfmap.Kind, Name: "a perf map", Identify: perfmap.Identify,
		Dump: locate.Format{Open: perfmap.Open, Other: perfmap.ErrNotMap, Find: perfmap.Find, Substitute: perfmap.Substitute, Explain: perfmap.Explain, Check: perfmap.DropElsewhere, IsLarge: perfmap.IsLarge, Refused: perfmap.Refused},
	},
}

// Attach lets logs describe functions of dumps.
var Attach = v8.Attach

// Of returns the format of a kind, or nil.
func Of(kind string) *Format {
	i := slices.IndexFunc(All, func(f Format) bool { return f.Kind == kind })
	if i < 0 {
		return nil
	}
	return &All[i]
}

// Dumps returns the dump functions of all formats.
func Dumps() (formats []locate.Format) {
	for i := range All {
		formats = append(formats, All[i].Dump)
	}
	return formats
}

// Calls returns the functions that open traces of calls, of all formats.
func Calls() (openers []calltrace.Opener) {
	for i := range All {
		if All[i].Calls != nil {
			openers = append(openers, All[i].Calls)
		}
	}
	return openers
}

// IsNamed reports whether side files of a kind are named by the user, since no mapping names them.
func IsNamed(kind string) bool {
	f := Of(kind)
	return f != nil && (f.Dump.Find != nil || f.Dump.Complete != nil || f.Calls != nil)
}
