package unwind

import (
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/source"
)

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
