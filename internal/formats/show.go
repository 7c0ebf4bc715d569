package formats

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"

	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/perfdata"
)

// recordings are the format that perf shows: users are sent there.
var recordings = show.Format{
	Name:   "a recording",
	Begins: perfdata.HasMagic,
	Show:   shownByPerf,
	Directory: &show.Directory{What: "of perf record, with a file called data", Show: func(v *show.Viewer) error {
		d, err := perfdata.OpenDirFS(sys.DirFS(v.Path))
		if errors.Is(err, fs.ErrNotExist) {
			return show.ErrOtherDirectory
		} else if err != nil {
			return err
		}
		d.Close()
		return shownByPerf(v)
	}},
}

func shownByPerf(v *show.Viewer) error {
	return v.ShownBy("a recording", "perf report -D -i FILE shows its records, and perf script --header-only -i FILE its header")
}

// Shown returns the display functions of all formats, in the order of names in messages.
func Shown() []show.Format {
	var list []show.Format
	for i := range All {
		f := All[i].Show
		f.Name = cmp.Or(f.Name, All[i].Name)
		if f.Begins == nil && f.Neighbours == nil {
			f.Begins = beginsLike(All[i].Identify)
		}
		list = append(list, f)
	}
	return append(list, recordings)
}

// beginsLike returns a function that identifies a format by first bytes alone.
func beginsLike(identify func(src io.ReaderAt, path string) bool) func(head []byte) bool {
	return func(head []byte) bool { return identify(bytes.NewReader(head), "") }
}
