package unwind

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// An Obstacle may prevent perf from unwinding stacks through functions of a dump. Its zero value is none.
type Obstacle struct {
	Kind        ObstacleKind
	Interpreter string // the function whose frame is unknown
	Why         error  // of UnknownFrame
}

// An ObstacleKind says what the obstacle is.
type ObstacleKind int

const (
	NoObstacle   ObstacleKind = iota
	NoCode                    // the bytes of functions are unknown; a core dump has them
	NoCodeLive                // likewise, and so has the process while it runs
	UnknownFrame              // its functions run in the frame of an interpreter, and that is unknown
)

// Derive makes a dump derive unwind tables from its code, as cfi asks. It returns the obstacle to unwinding.
// histories are those of rec.
func Derive(rec *recording.Recording, histories *recording.FileHistories, d *model.Dump, cfi config.CFI) Obstacle {
	if cfi == config.CFINever || cfi == config.CFIWhereUnwound && !rec.CopiesStacks() {
		return Obstacle{}
	}
	frame, interpreter, why := interpreterFrame(rec, d)
	d.DeriveFrames(source.Surroundings{Interpreter: frame, Copies: copiesOf(histories, d)})
	switch {
	case !rec.CopiesStacks():
	case !knowsCode(rec, d) && d.Source.Traits().Tidied:
		return Obstacle{Kind: NoCodeLive}
	case !knowsCode(rec, d):
		return Obstacle{Kind: NoCode}
	case why != nil:
		return Obstacle{UnknownFrame, interpreter, why}
	}
	return Obstacle{}
}

// String returns the obstacle in words, or "". Without code, perf follows frame pointers, which .NET and V8
// always keep.
func (o Obstacle) String() string {
	const callers = ": perf finds callers where its functions keep frame pointers; if stacks end in them, name a core dump with "
	switch o.Kind {
	case NoCode:
		return "its log has no code to derive unwind tables from" + callers + report.Mentioned("CodeFrom", "")
	case NoCodeLive:
		return "it has no code to derive unwind tables from" + callers + report.Mentioned("CodeFrom", "") + " or, while the process runs, the process with " + report.Mentioned("Live", "PID")
	case UnknownFrame:
		return fmt.Sprintf("its functions run in the frame of %s, and perf cannot unwind them: %v", o.Interpreter, o.Why)
	}
	return ""
}

// knowsCode reports whether the bytes of any function of a dump are known. Functions in files do
// not count: their bytes are the same everywhere.
func knowsCode(rec *recording.Recording, d *model.Dump) bool {
	if codebytes.BringsCode(d) {
		return true
	}
	p := rec.Processes[d.PID]
	return slices.ContainsFunc(d.Source.Scanned().Events, func(e jitcode.Event) bool {
		return (p == nil || !p.Files.Hold(e.Addr)) && d.HasCode(int(e.Function))
	})
}

const (
	// maxCopies bounds the result of copiesOf.
	maxCopies = 64
	// maxPairs bounds how many pairs of mappings are compared: a program may map a file at
	// one address again and again.
	maxPairs = 1 << 20
)

// copiesOf returns the parts of files that a dump's process has mapped more than once, at most
// maxCopies.
func copiesOf(histories *recording.FileHistories, d *model.Dump) (copies []source.Copy) {
	maps := histories.Program(d.PID, codebytes.LastTime(d))
	pairs := 0
	maps.All(func(a *recording.FileMap) bool {
		if a.Name == "" {
			return true
		}
		maps.EachPart(a, a.Off, a.Hi-a.Lo, func(b *recording.FileMap) bool {
			lo, hi := max(a.Off, b.Off), min(a.Off+a.Hi-a.Lo, b.Off+b.Hi-b.Lo)
			if a.Lo-a.Off != b.Lo-b.Off && lo < hi {
				copies = append(copies, source.Copy{Lo: a.Lo + lo - a.Off, Hi: a.Lo + hi - a.Off, Home: b.Lo + lo - b.Off})
			}
			pairs++
			return len(copies) < maxCopies && pairs < maxPairs
		})
		return len(copies) < maxCopies && pairs < maxPairs
	})
	return copies
}
