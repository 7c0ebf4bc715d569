package inject

import (
	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/formats"
)

// These values are the kinds of files. Side files have them in [SideFile] and [DumpSummary].
const (
	KindUnknown   = ""
	KindRecording = "perf.data"       // for Options.Input
	KindJitdump   = "jitdump"         // jit-PID.dump
	KindMono      = "mono-log"        // a log of Mono's profiler
	KindXRay      = "xray"            // a trace of a program built with -fxray-instrument
	KindJ9        = "openj9-captures" // a capture of OpenJ9's metadata, or a directory of them
	KindV8Log     = "v8log"           // describes functions of V8's jitdumps
	KindGDBJIT    = "gdb-jit"         // only in DumpSummary: from Options.CodeFrom or Options.Live
	KindPerfMap   = "perf-map"        // perf-PID.map
	KindCore      = "core"            // for Options.CodeFrom
	// KindELF is a program or a shared object, for Options.CodeFrom and Options.Programs.
	KindELF = "elf"
)

// Identify returns the kind of a file, by its first bytes or by the files beside it. It is
// KindUnknown if the file cannot be read, or is not a regular file.
func Identify(path string) (kind string) { return formats.Identify(path) }

// Unidentified returns the error of reading a file or a directory that has prevented Identify or IdentifyDir
// from knowing its kind, or nil. A path without a file is no error.
func Unidentified(path string) error { return formats.Unidentified(path) }

// IdentifyDir returns the kind of the side files in a directory that are used together. ok is
// false if the directory has none.
func IdentifyDir(path string) (kind string, ok bool) { return formats.IsDirectory(path) }

// IsNamed reports whether side files of a kind are named in [Options.SideFiles], because no
// mapping in a recording names them.
func IsNamed(kind string) bool { return formats.IsNamed(kind) }

// KindName returns the name of a kind, with its article.
func KindName(kind string) string { return formats.Name(kind) }

// ValidClock reports whether mode can be Options.Clock.
func ValidClock(mode string) bool { return clock.ValidClock(mode) }
