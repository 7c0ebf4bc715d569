package engine

import (
	"context"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/runtime/perfmap"
	"github.com/jitinject/jitinject/internal/runtime/v8"
	"github.com/jitinject/jitinject/internal/runtime/xray"
)

// The stages of a run define these types. The command uses them by these names.
type (
	// Options are the settings of [Run].
	Options = config.Options
	// CFI says when unwind tables are derived from code.
	CFI = config.CFI
	// A SideFile is a file that a runtime wrote, or a directory of such files.
	SideFile = config.SideFile

	// A Summary has the results of a run.
	Summary = report.Summary
	// A DumpSummary has the results for one side file.
	DumpSummary = report.DumpSummary
	// A TraceSummary has the results for one log of calls.
	TraceSummary = report.TraceSummary
	// An XRaySummary has the results for a log of calls that only XRay has.
	XRaySummary = report.XRaySummary
	// A SampleSummary counts the samples of a recording.
	SampleSummary = report.SampleSummary
	// JitSamples counts the samples in jitted code.
	JitSamples = report.JitSamples
	// A Hottest names the functions with the most samples.
	Hottest = report.Hottest
	// A HotFunction is one of them.
	HotFunction = report.HotFunction
	// Callers counts the stacks with a function of a dump among the callers.
	Callers = report.Callers
	// A StackSummary counts the copies of stacks of a process.
	StackSummary = report.StackSummary
	// A LineAddresses says whether the addresses of a dump's lines are right.
	LineAddresses = report.LineAddresses
	// An AddressFit says how well the addresses of lines fit the code.
	AddressFit = report.AddressFit
	// Unwind counts functions by the origin of their unwind tables.
	Unwind = report.Unwind
	// A Fix is a quirk of a producer that was fixed.
	Fix = report.Fix
	// A Clock describes the conversion of a dump's times into the recording's.
	Clock = report.Clock
	// A Problem is something that is missing in the output, or may be.
	Problem = report.Problem
	// A Setting is a field of [Options] in a message.
	Setting = report.Setting
	// A Reason says why there was nothing to inject.
	Reason = report.Reason
	// A Progress says how far a run is. Any goroutine may read it.
	Progress = report.Progress
	// A ProgressState says how far a phase is.
	ProgressState = report.ProgressState
	// A Phase is a part of a run.
	Phase = report.Phase

	// CleanOptions are the settings of [Clean].
	CleanOptions = objstore.CleanOptions
	// A LeftError is the error of a failed run that could not remove all of its files.
	LeftError = objstore.LeftError
	// A CleanSummary has the results of [Clean].
	CleanSummary = objstore.CleanSummary
)

// SummaryVersion is the version of the summary's JSON form.
const SummaryVersion = report.SummaryVersion

// These values say when unwind tables are derived from code.
const (
	CFIWhereUnwound = config.CFIWhereUnwound
	CFIAlways       = config.CFIAlways
	CFINever        = config.CFINever
)

// These values are the kinds of files. Side files have them in [SideFile] and [DumpSummary].
const (
	KindUnknown   = formats.Unknown
	KindRecording = formats.Recording // Options.Input
	KindJitdump   = jitdumps.Kind
	KindMono      = mono.Kind
	KindXRay      = xray.Kind
	KindJ9        = openj9.Kind
	KindV8Log     = v8.Kind
	KindGDBJIT    = gdbjit.Kind // only in DumpSummary: Options.CodeFrom, Options.Live
	KindPerfMap   = perfmap.Kind
	KindCore      = formats.Core // Options.CodeFrom
	// KindELF is a program or a shared object, for Options.CodeFrom and Options.Programs.
	KindELF = formats.ELF
)

// These values say how the times of a dump became those of the recording.
const (
	ClockMonotonic = report.ClockMonotonic
	ClockTSC       = report.ClockTSC
	ClockEstimated = report.ClockEstimated
	ClockOther     = report.ClockOther
	ClockRealtime  = report.ClockRealtime
	ClockGiven     = report.ClockGiven
	ClockStart     = report.ClockStart
	ClockNone      = report.ClockNone
)

// These values are the kinds of reasons.
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
)

// These values are the phases of a run.
const (
	PhaseOpen    = report.PhaseOpen
	PhaseSurvey  = report.PhaseSurvey
	PhaseScan    = report.PhaseScan
	PhaseLogs    = report.PhaseLogs
	PhaseCode    = report.PhaseCode
	PhaseSamples = report.PhaseSamples
	PhasePlan    = report.PhasePlan
	PhaseObjects = report.PhaseObjects
	PhaseWrite   = report.PhaseWrite
	PhaseSync    = report.PhaseSync
	PhaseStream  = report.PhaseStream
	PhaseUndo    = report.PhaseUndo
)

// These errors of [Run] have values that callers can compare. Errors of files wrap those of
// package io/fs. The error of a cancelled run wraps that of the context.
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
