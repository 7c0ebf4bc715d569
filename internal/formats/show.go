package formats

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showelf"
	"github.com/jitinject/jitinject/internal/show/showperf"
)

// noSideFiles are the other formats that can be shown: recordings, and ELF files with core dumps.
var noSideFiles = []show.Format{showperf.Format, showelf.Format}

// Shown returns the display functions of all formats, in the order of names in messages.
func Shown() []show.Format {
	var list []show.Format
	for i := range All {
		f := All[i].Show
		if f.Show == nil {
			continue
		}
		f.Name = cmp.Or(f.Name, All[i].Name)
		if f.Begins == nil && f.Neighbours == nil {
			f.Begins = beginsLike(All[i].Identify)
		}
		list = append(list, f)
	}
	return slices.Insert(list, 1, noSideFiles...)
}

// beginsLike returns a function that identifies a format by first bytes alone.
func beginsLike(identify func(src io.ReaderAt, path string) bool) func(head []byte) bool {
	return func(head []byte) bool { return identify(bytes.NewReader(head), "") }
}
