package locate

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/jitdump"
)

// A producer may give its dump any name. It maps a page of it as code all the same, so that a recording has
// a marker. The file's first bytes tell that it is a dump.

// maxMarker bounds the length of a mapping that is a marker, in bytes: the largest page of a machine.
const maxMarker = 64 << 10

// markMapped adds markers for the jitdumps that processes without another dump map under names that do not
// say so.
func (f *Finder) markMapped() {
	numbers := make(map[string]uint32) // in the headers of files, by path; 0 for those that are no dumps
	var markers []recording.Marker
	for _, pid := range f.Rec.PIDs() {
		if f.Rec.NumMarkers(pid) > 0 {
			continue
		}
		for _, m := range f.Rec.Processes[pid].FileMaps {
			if m.Off != 0 || m.Hi-m.Lo > maxMarker || !filepath.IsAbs(m.Name) {
				continue
			}
			number, known := numbers[m.Name]
			if !known {
				number = f.numberIn(m.Name)
				numbers[m.Name] = number
			}
			if number != 0 {
				markers = append(markers, recording.Marker{PID: pid, Number: number, Time: m.Time, Began: m.Time, Path: m.Name, Pos: -1, Addr: m.Lo, Len: m.Hi - m.Lo, File: m.File,
					Known: "found by its first bytes, which are those of a jitdump: its name is none of a dump"})
			}
		}
	}
	f.Rec.Markers = append(f.Rec.Markers, markers...)
}

// numberIn returns the process in the header of a jitdump, or 0. The file is at its path, beside the recording or
// in one of the directories of DumpDirs.
func (f *Finder) numberIn(path string) uint32 {
	for _, dir := range append([]string{filepath.Dir(path), f.Rec.In.Dir}, f.DirsWith(filepath.Base(path))...) {
		path := filepath.Join(dir, filepath.Base(path))
		file, err := safefile.Open(path)
		if err == nil {
			var dump *jitdump.Reader
			if dump, err = jitdump.NewReader(file); err == nil {
				file.Close()
				return dump.Header().PID
			}
			file.Close()
		}
		if !errors.Is(err, fs.ErrPermission) { // most of these files are libraries
			f.Unread(path, err)
		}
	}
	return 0
}
