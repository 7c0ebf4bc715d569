package locate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/source"
)

// A Finder looks for the files of dumps. It opens and scans each file once, for all references.
type Finder struct {
	Rec     *recording.Recording
	Opts    *config.Options
	Formats []Format
	// Code has the memories that the user names. It may be nil.
	Code *codebytes.Files
	held *Held
	// Files are all files that are open.
	Files  []*SideFile
	tailed []*SideFile // those with a tail
	// Left has the files of formats without a marker that belong to no process.
	Left Left
	dirs []string // see Dirs
	// holding has the directories with a file of each name, and those that cannot be listed as "".
	holding map[string][]string
	// Unreadable has the problems of Unread.
	Unreadable report.Findings

	given    map[string]*SideFile    // files of markers with a place, by path
	byInode  map[sys.Inode]*SideFile // all of Files
	numbered map[uint32][]uint32     // processes by the numbers in their markers; nil until it is asked
}

// A SideFile is a file that may be a dump of the recording.
type SideFile struct {
	Path   string // where it was found first
	live   bool   // the path vanishes with its process
	File   *sys.File
	Info   os.FileInfo
	Source source.Dump
	tail   *tail // nil without one

	// Scanned says that the source has been scanned.
	Scanned  bool
	assigned bool // it is assigned, or it is known to be ambiguous
	Taken    bool // it is the dump of a reference
}

// Mark adds a marker that the recording does not have. s is the file of its dump.
func (f *Finder) Mark(m recording.Marker, s *SideFile) {
	f.given[m.Path], s.Taken = s, true
	f.Rec.Markers = append(f.Rec.Markers, m)
}

// Scan scans a file, unless that has been done.
func (f *Finder) Scan(ctx context.Context, s *SideFile) error {
	if s.Scanned {
		return nil
	}
	f.Opts.Progress.Begin(report.PhaseScan, s.Info.Size())
	s.Source.Scanned().Watch = f.Opts.Progress.Set
	if err := s.Source.Scan(ctx); err != nil {
		return err
	}
	s.Scanned = true
	return nil
}

// SideFile returns the side file of an open file. It closes file if the same file is open
// already, or on failure.
func (f *Finder) SideFile(file *sys.File, path string) (*SideFile, error) {
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	if s := f.byInode[sys.InodeOf(info)]; s != nil {
		file.Close()
		if s.live && !isLive(path) {
			s.Path, s.live = path, false
		}
		return s, nil
	}
	contents, tail := f.withTail(file, info)
	src, err := f.open(contents)
	if err != nil && file.Failed() != nil { // it may have any format
		err = file.Failed()
	}
	if err != nil {
		file.Close()
		return nil, dumpAdvice(err)
	}
	src.SetMachine(source.Machine{Name: f.Rec.Machine, Order: f.Rec.In.Order, Narrow: f.Rec.IsNarrow})
	for _, format := range f.Formats {
		if format.Prepare != nil {
			format.Prepare(src, f.Opts)
		}
	}
	s := &SideFile{Path: path, File: file, Info: info, Source: src, tail: tail}
	if tail != nil {
		f.tailed = append(f.tailed, s)
	}
	f.AddFile(s)
	if !s.live {
		file.Lend(info)
	}
	return s, nil
}

// IsScanned reports whether a file has been scanned. info is from a Stat of it.
func (f *Finder) IsScanned(info os.FileInfo) bool {
	s := f.byInode[sys.InodeOf(info)]
	return s != nil && s.Scanned
}

// AddFile adds an open side file.
func (f *Finder) AddFile(s *SideFile) {
	s.live = isLive(s.Path)
	if f.byInode == nil {
		f.byInode = make(map[sys.Inode]*SideFile)
	}
	if id := sys.InodeOf(s.Info); f.byInode[id] == nil {
		f.byInode[id] = s
	}
	f.Files = append(f.Files, s)
}

// Forget closes a file that is of no use. It may be opened again.
func (f *Finder) Forget(s *SideFile) {
	s.File.Close()
	delete(f.byInode, sys.InodeOf(s.Info))
	for i, other := range slices.Backward(f.Files) { // it is among the last ones
		if other == s {
			f.Files = slices.Delete(f.Files, i, i+1)
			break
		}
	}
}

// CloseOthers closes the files that are not of these dumps.
func (f *Finder) CloseOthers(dumps []*model.Dump) {
	used := make(map[*sys.File]bool)
	for _, d := range dumps {
		used[d.File] = true
	}
	for _, s := range f.Files {
		if !used[s.File] {
			s.File.Close()
		}
	}
}

// MaxSubdirs bounds how many directories in one of DumpDirs are searched.
const MaxSubdirs = 1000

// CheckDirs fails if one of opts.DumpDirs is no directory.
func CheckDirs(opts *config.Options) error {
	for _, dir := range opts.DumpDirs {
		if st, err := sys.Stat(dir); err != nil && !safefile.IsAbsent(err) {
			return fmt.Errorf("%s: cannot read it: %w", report.MentionedPath("DumpDirs", dir), safefile.WithoutPath(err))
		} else if err != nil || !st.IsDir() {
			return fmt.Errorf("%s: there is no such directory", report.MentionedPath("DumpDirs", dir))
		}
	}
	return nil
}

// Dirs returns the directories of DumpDirs, each with the directories in it if those have been listed.
func (f *Finder) Dirs() []string {
	if f.dirs == nil {
		return f.Opts.DumpDirs
	}
	return f.dirs
}

// DirsWith returns those of Dirs that may have a file of a name. The ones that cannot be listed come last.
func (f *Finder) DirsWith(name string) []string {
	if f.dirs == nil {
		return f.Dirs()
	}
	if f.holding == nil {
		f.holding = make(map[string][]string)
		for _, dir := range f.dirs {
			entries, err := f.Rec.In.List(dir)
			for _, e := range entries {
				f.holding[e.Name()] = append(f.holding[e.Name()], dir)
			}
			if err != nil && !safefile.IsAbsent(err) {
				f.holding[""] = append(f.holding[""], dir)
			}
		}
	}
	return slices.Concat(f.holding[name], f.holding[""])
}

// listDirs lists the directories in each of DumpDirs: dumps of containers have equal names, so
// users keep them in directories of their own. Its error is that of CheckDirs.
func (f *Finder) listDirs() error {
	if err := CheckDirs(f.Opts); err != nil {
		return err
	}
	for _, dir := range f.Opts.DumpDirs {
		f.dirs = append(f.dirs, dir)
		// A directory that cannot be listed may still have a file of a known name.
		entries, err := f.Rec.In.List(dir)
		f.Unread(dir, err)
		var subdirs []string
		for _, e := range entries {
			if e.IsDir() {
				subdirs = append(subdirs, filepath.Join(dir, e.Name()))
			}
		}
		slices.Sort(subdirs)
		f.dirs = append(f.dirs, subdirs[:min(len(subdirs), MaxSubdirs)]...)
	}
	return nil
}
