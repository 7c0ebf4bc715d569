package engine

import (
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/report"
)

// Tests of runs call the types of the stages by the engine's name.
type (
	Callers       = report.Callers
	CleanOptions  = objstore.CleanOptions
	CleanSummary  = objstore.CleanSummary
	Clock         = report.Clock
	DumpSummary   = report.DumpSummary
	HotFunction   = report.HotFunction
	Hottest       = report.Hottest
	JitSamples    = report.JitSamples
	Options       = config.Options
	Problem       = report.Problem
	Progress      = report.Progress
	ProgressState = report.ProgressState
	Reason        = report.Reason
	SideFile      = config.SideFile
	Summary       = report.Summary
)

const (
	CFIAlways            = config.CFIAlways
	CFINever             = config.CFINever
	ClockEstimated       = report.ClockEstimated
	ClockGiven           = report.ClockGiven
	ClockMonotonic       = report.ClockMonotonic
	ClockNone            = report.ClockNone
	ClockOther           = report.ClockOther
	ClockRealtime        = report.ClockRealtime
	ClockStart           = report.ClockStart
	ClockTSC             = report.ClockTSC
	KindCore             = formats.Core
	KindGDBJIT           = formats.GDBJIT
	KindJ9               = formats.J9
	KindJitdump          = formats.Jitdump
	KindMono             = formats.Mono
	KindPerfMap          = formats.PerfMap
	KindV8Log            = formats.V8Log
	KindXRay             = formats.XRay
	PhaseLogs            = report.PhaseLogs
	ReasonFlagMissing    = report.ReasonFlagMissing
	ReasonInjected       = report.ReasonInjected
	ReasonMore           = report.ReasonMore
	ReasonNoDump         = report.ReasonNoDump
	ReasonNoJittedCode   = report.ReasonNoJittedCode
	ReasonNoMarker       = report.ReasonNoMarker
	ReasonNoSamples      = report.ReasonNoSamples
	ReasonPerfMap        = report.ReasonPerfMap
	ReasonUnknownRuntime = report.ReasonUnknownRuntime
)

var (
	Clean     = objstore.Clean
	ErrStrict = report.ErrStrict
)
