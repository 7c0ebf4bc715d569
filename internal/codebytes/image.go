package codebytes

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// imagesOf returns the code of a file at the addresses where a process has it mapped. It adds a
// note if only the name says that it is the recorded file. It fails if the process did not map
// it.
func imagesOf(rec *recording.Recording, f *File, pid uint32, maps []recording.FileMap) (jitcode.Memory, string, error) {
	mem := mappedFiles{only: f.file}
	path, err := filepath.Abs(f.Path)
	if err != nil {
		path = f.Path
	}
	var other error
	proven := false
	for i := range maps {
		m := &maps[i]
		recorded := rec.IsRecorded(m, f.file, f.image)
		switch {
		case m.Name == "" || !recorded && filepath.Base(m.Name) != filepath.Base(path):
			continue
		case !recorded && buildIDFor(rec, m) != "":
			other = fmt.Errorf("its build id is not that of the %s which process %d had mapped", quote.Printable(m.Name), pid)
			continue
		case !recorded && filepath.Clean(m.Name) != filepath.Clean(path):
			continue // another file of that name
		}
		proven = proven || recorded
		mem.maps = append(mem.maps, *m)
	}
	mem.line = lineOf(mem.maps)
	switch {
	case len(mem.maps) > 0 && proven:
		return &mem, "", nil
	case len(mem.maps) > 0:
		return &mem, "only its name shows that it is the recorded file", nil
	case other != nil:
		return nil, "", other
	}
	return nil, "", fmt.Errorf("process %d had no such file mapped", pid)
}

// buildIDFor returns the build id that the recording has for a mapping, or "".
func buildIDFor(rec *recording.Recording, m *recording.FileMap) string {
	if m.BuildID != "" {
		return m.BuildID
	}
	return rec.BuildID(m.Name)
}

// lineOf returns the addresses of mappings.
func lineOf(maps []recording.FileMap) *addrs.Timeline {
	ranges := make([]addrs.Range, len(maps))
	for i := range maps {
		ranges[i] = addrs.Range{Lo: maps[i].Lo, Hi: maps[i].Hi}
	}
	return addrs.NewTimeline(ranges)
}

// errNotMapped is the error of ReadCode for addresses without a mapped file.
var errNotMapped = errors.New("no file is mapped there")

// mappedFiles are the files that a process had mapped, unless they have changed since. They are
// opened when they are needed.
type mappedFiles struct {
	rec  *recording.Recording
	maps []recording.FileMap // in the order of their times
	line *addrs.Timeline     // of maps
	only *sys.File           // the file of all maps; nil if it is the one of each name

	mu     sync.Mutex
	files  map[string]*sys.File // by name; nil for those that have changed
	failed map[string]error     // by name, of files that could not be opened
}

// ReadCode is as in jitcode.Memory.
func (m *mappedFiles) ReadCode(addr uint64, p []byte) error {
	i := m.line.Last(addrs.Range{Lo: addr, Hi: addr + 1}, 0, len(m.maps))
	if i < 0 {
		return errNotMapped
	}
	f := &m.maps[i]
	if f.Name == "" || uint64(len(p)) > f.Hi-addr {
		return errNotMapped
	}
	file, err := m.open(f)
	if err != nil {
		return fmt.Errorf("%s: %w", quote.Printable(f.Name), err)
	}
	if file == nil {
		return fmt.Errorf("%s is not what was mapped there", quote.Printable(f.Name))
	}
	_, err = file.ReadAt(p, int64(addr-f.Lo+f.Off))
	return err
}

// open returns the file of a mapping, or nil if it is not the one that was recorded. After an error,
// the next call tries again.
func (m *mappedFiles) open(f *recording.FileMap) (*sys.File, error) {
	if m.only != nil {
		return m.only, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	file, ok := m.files[f.Name]
	if ok {
		return file, nil
	}
	if m.files == nil { // most dumps need none
		m.files, m.failed = make(map[string]*sys.File), make(map[string]error)
	}
	file, image, err := recording.OpenELF(f.Name)
	if err != nil {
		m.failed[f.Name] = err
		return nil, err
	}
	if image != nil && !m.rec.IsRecorded(f, file, image) {
		file.Close()
		if err := file.Failed(); err != nil {
			m.failed[f.Name] = err
			return nil, err
		}
		file = nil
	}
	m.files[f.Name] = file
	return file, nil
}

// close closes the files that are open.
func (m *mappedFiles) close() {
	for _, f := range m.files {
		if f != nil {
			f.Close()
		}
	}
}
