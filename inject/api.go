package inject

import (
	"context"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/report"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/runtime/xray"
)

// What a run is asked, and what it says, is defined where its stages can see it.
type (
	Options  = config.Options
	CFI      = config.CFI
	SideFile = config.SideFile

	Summary       = report.Summary
	DumpSummary   = report.DumpSummary
	TraceSummary  = report.TraceSummary
	XRaySummary   = report.XRaySummary
	SampleSummary = report.SampleSummary
	JitSamples    = report.JitSamples
	StackSummary  = report.StackSummary
	LineAddresses = report.LineAddresses
	AddressFit    = report.AddressFit
	Unwind        = report.Unwind
	Fix           = report.Fix
	Clock         = report.Clock
	Problem       = report.Problem
	Mention       = report.Mention
	Reason        = report.Reason
	Progress      = report.Progress
	ProgressState = report.ProgressState
	Phase         = report.Phase

	CleanOptions = objstore.CleanOptions
	LeftError    = objstore.LeftError
	CleanSummary = objstore.CleanSummary
)

// SummaryVersion is the version of the summary's JSON form.
const SummaryVersion = report.SummaryVersion

// When unwind tables are derived from code.
const (
	CFIWhereUnwound = config.CFIWhereUnwound
	CFIAlways       = config.CFIAlways
	CFINever        = config.CFINever
)

// The kinds of files. Those of side files are in [SideFile] and [DumpSummary].
const (
	KindUnknown   = formats.Unknown
	KindRecording = formats.Recording // Options.Input
	KindJitdump   = jitdumps.Kind
	KindMono      = mono.Kind
	KindXRay      = xray.Kind
	KindJ9        = openj9.Kind
	KindCore      = formats.Core // Options.CodeFrom
	KindELF       = formats.ELF  // a program or a shared object: Options.CodeFrom, Options.Programs
)

// How the clock of a dump became that of the recording.
const (
	ClockMonotonic = report.ClockMonotonic
	ClockTSC       = report.ClockTSC
	ClockEstimated = report.ClockEstimated
	ClockRealtime  = report.ClockRealtime
	ClockGiven     = report.ClockGiven
	ClockStart     = report.ClockStart
	ClockNone      = report.ClockNone
)

// Kinds of reasons.
const (
	ReasonInjected       = report.ReasonInjected
	ReasonNoSamples      = report.ReasonNoSamples
	ReasonNoJittedCode   = report.ReasonNoJittedCode
	ReasonNoMarker       = report.ReasonNoMarker
	ReasonPerfMap        = report.ReasonPerfMap
	ReasonFlagMissing    = report.ReasonFlagMissing
	ReasonNoDump         = report.ReasonNoDump
	ReasonUnknownRuntime = report.ReasonUnknownRuntime
	ReasonMore           = report.ReasonMore
	ReasonClock          = report.ReasonClock
)

// The phases of a run.
const (
	PhaseOpen    = report.PhaseOpen
	PhaseSurvey  = report.PhaseSurvey
	PhaseScan    = report.PhaseScan
	PhaseSamples = report.PhaseSamples
	PhaseObjects = report.PhaseObjects
	PhaseWrite   = report.PhaseWrite
	PhaseStream  = report.PhaseStream
	PhaseUndo    = report.PhaseUndo
)

// Errors of Run that callers may want to tell apart. Errors of files wrap those of package io/fs,
// of a cancelled run that of the context.
var (
	ErrNothing = report.ErrNothing
	ErrStrict  = report.ErrStrict
)

// Clean removes the objects that an injected recording refers to; see [CleanOptions].
func Clean(ctx context.Context, opts CleanOptions) (*CleanSummary, error) {
	return objstore.Clean(ctx, opts)
}

// Identify returns the kind of a file, by its first bytes or by the files beside it.
func Identify(path string) (kind string) { return formats.Identify(path) }

// IdentifyDir returns the kind of the side files in a directory that are taken together.
func IdentifyDir(path string) (kind string, ok bool) { return formats.IsDirectory(path) }

// IsNamed reports whether side files of a kind are named in [Options.SideFiles], because no
// mapping in a recording names them.
func IsNamed(kind string) bool { return formats.IsNamed(kind) }

// KindName returns the name of a kind, with its article.
func KindName(kind string) string { return formats.Name(kind) }

// ValidClock reports whether mode can be Options.Clock.
func ValidClock(mode string) bool { return clock.ValidClock(mode) }

// ReplaceMentions replaces the fields of [Options] that a message mentions by what words
// returns for them: a program with a command line has its own names for them.
func ReplaceMentions(message string, words func(Mention) string) string {
	return report.Replace(message, words)
}
