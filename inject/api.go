package inject

import (
	"context"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
)

// What a run is asked, and what it says, is defined where its stages can see it.
type (
	Options   = config.Options
	CFI       = config.CFI
	NamedDump = config.NamedDump

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
	Repair        = report.Repair
	Clock         = report.Clock
	Problem       = report.Problem
	Reason        = report.Reason
	Progress      = report.Progress
	ProgressState = report.ProgressState
	Phase         = report.Phase

	FileKind     = formats.Kind
	CleanOptions = objstore.CleanOptions
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

// The kinds of side files.
const (
	KindJitdump = report.KindJitdump
	KindMono    = report.KindMono
	KindJ9      = report.KindJ9
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

// What files are.
const (
	FileUnknown   = formats.Unknown
	FileRecording = formats.Recording
	FileJitdump   = formats.Jitdump
	FileMonoLog   = formats.MonoLog
	FileXRay      = formats.XRay
	FileJ9        = formats.J9
	FileCore      = formats.Core
	FileELF       = formats.ELF
)

// Clean removes the objects that an injected recording refers to; see [CleanOptions].
func Clean(ctx context.Context, opts CleanOptions) (*CleanSummary, error) {
	return objstore.Clean(ctx, opts)
}

// SniffFile returns what a file is, as far as its first bytes tell.
func SniffFile(path string) FileKind { return formats.Identify(path) }

// HasCaptures reports whether a directory has captures of OpenJ9's metadata in it.
func HasCaptures(path string) bool {
	kind, ok := formats.IsDirectory(path)
	return ok && kind == formats.J9
}

// ValidClock reports whether mode can be Options.Clock.
func ValidClock(mode string) bool { return clock.ValidClock(mode) }

// Printable returns s without what a terminal would obey.
func Printable(s string) string { return quote.Printable(s) }

// Left returns what a run that failed had to leave behind, in words, or "".
func Left(err error) string { return objstore.Left(err) }
