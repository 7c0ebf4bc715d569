package xray

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/xraymap"
)

// A program has the addresses of functions in a process.
type program struct {
	pid       uint32
	path      string
	functions *xraymap.Map
	bias      uint64 // difference between its addresses in memory and in the file
	since     uint64 // time of its mapping
	unchecked bool   // nothing proves that it is the recorded build
}

// address returns the address of a function in the process.
func (p *program) address(id uint32) (uint64, bool) {
	addr, ok := p.functions.Address(id)
	return addr + p.bias, ok
}

// programs are those that opts name, and the files that were tried.
type programs struct {
	named    []*namedProgram
	tried    map[triedFile]*tried
	searches int                 // in all processes
	tids     map[uint32][]uint32 // of each process in the recording, ascending
}

// maxSearches bounds the traces whose process is searched among all.
const maxSearches = 20

// A triedFile is a file that may be the mapped one.
type triedFile struct {
	path, name, buildID string
	inode, generation   uint64
	major, minor        uint32
}

// tried is what a file is. Many traces may have one program.
type tried struct {
	err, unread error       // of opening it, and of its functions
	info        os.FileInfo // nil if there is no ELF file
	same        bool        // it is the recorded file
	functions   *xraymap.Map
}

// try reads a file.
func (p *programs) try(s *recording.Recording, m *recording.FileMap, path string) *tried {
	key := triedFile{path, m.Name, m.BuildID, m.File.Inode, m.File.InodeGeneration, m.File.Major, m.File.Minor}
	if t := p.tried[key]; t != nil {
		return t
	}
	t := new(tried)
	p.tried[key] = t
	file, f, err := recording.OpenELF(path)
	if t.err = err; err != nil || f == nil {
		return t
	}
	defer file.Close()
	t.same = s.IsRecorded(m, file, f)
	if err := file.Failed(); err != nil {
		t.err = safefile.WithoutPath(err)
		return t
	}
	if t.info, t.err = file.Stat(); t.err == nil {
		t.functions, t.unread = xraymap.Read(f)
	}
	return t
}

// A namedProgram is a program that opts name.
type namedProgram struct {
	path      string
	functions *xraymap.Map
}

// readBinaries reads the programs that opts name.
func readBinaries(s *recording.Recording, opts *config.Options) (*programs, error) {
	all := &programs{tried: make(map[triedFile]*tried), tids: make(map[uint32][]uint32)}
	for _, tid := range slices.Sorted(maps.Keys(s.Owners)) {
		all.tids[s.Owners[tid]] = append(all.tids[s.Owners[tid]], tid)
	}
	for _, path := range opts.Programs {
		file, f, err := recording.OpenELF(path)
		if f == nil {
			if err == nil {
				_, err = sys.Stat(path)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", report.MentionedPath("Programs", path), safefile.PlainError(err))
			}
			return nil, fmt.Errorf("%s: it is no ELF file", report.MentionedPath("Programs", path))
		}
		m, err := xraymap.Read(f)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", report.MentionedPath("Programs", path), err)
		}
		all.named = append(all.named, &namedProgram{path, m})
	}
	return all, nil
}

// findProgram finds a process of a trace in the recording, and its program.
func findProgram(s *recording.Recording, p *Process, binaries *programs, opts *config.Options) (*program, error) {
	began := p.Began()
	pid, err := pidOf(s, p, opts)
	if err == nil {
		var program *program
		if program, err = programOf(s, pid, began, binaries, opts); err == nil || !errors.Is(err, xraymap.ErrNoMap) {
			return program, err
		}
	}
	// In its own pid namespace, the process had another number. Then it must be the only one with
	// such a program at that time.
	if binaries.searches++; binaries.searches > maxSearches {
		return nil, err
	}
	var found *program
	for pid := range s.Processes {
		switch program, no := programOf(s, pid, began, binaries, opts); {
		case no != nil || program.since > began || began > s.Latest:
		case found != nil:
			return nil, report.Advise(err, "several processes have a program that was built with XRay, and the trace does not name its own: name its process with %s", report.Mentioned("PID", "PID"))
		default:
			found = program
		}
	}
	if found == nil {
		return nil, err
	}
	return found, nil
}

// pidOf returns the process in the recording that a trace names.
func pidOf(s *recording.Recording, p *Process, opts *config.Options) (uint32, error) {
	switch {
	case s.Processes[p.PID] != nil && p.PID != 0:
		return p.PID, nil
	case opts.PID == 0:
		return 0, report.Advise(fmt.Errorf("it is of process %d, which is not in the recording", p.PID), "name the trace of the recorded run; where the process had another number outside of its container, name that with %s", report.Mentioned("PID", "PID"))
	case s.Processes[opts.PID] == nil:
		return 0, report.Advise(fmt.Errorf("there is no process %d in the recording", opts.PID), "perf script --show-task-events shows which there are")
	}
	return opts.PID, nil
}

// programOf finds the program that a process ran at a time: the first instrumented file.
func programOf(s *recording.Recording, pid uint32, time uint64, binaries *programs, opts *config.Options) (*program, error) {
	maps := s.FileMapsOf(pid, time)
	if len(maps) == 0 { // the trace is of another time, which is reported elsewhere
		maps = s.FileMapsOf(pid, math.MaxUint64)
	}
	var names []string
	var why error
	for i := range maps {
		m := &maps[i]
		if !strings.HasPrefix(m.Name, "/") || slices.Contains(names, m.Name) {
			continue
		}
		names = append(names, m.Name)
		program, err := instrumented(s, m, maps, binaries, len(names) == 1, opts)
		switch {
		case err == nil:
			program.pid, program.since = pid, m.Time
			return program, program.place(maps, m)
		case errors.Is(err, xraymap.ErrNoMap) && len(names) > 1:
		case why == nil:
			why = fmt.Errorf("process %d: %s: %w", pid, quote.Printable(m.Name), err)
		}
	}
	if why == nil {
		why = fmt.Errorf("the recording has no mapped file of process %d", pid)
	}
	return nil, why
}

var (
	errGone       = errors.New("the program is not there any more")
	errOtherBuild = errors.New("this is another build than the one that was recorded")
	errNoFit      = fmt.Errorf("%w: its code is not as long as what was mapped", errOtherBuild)
)

// instrumented returns the functions of a mapped file. It tries a file that opts name, the file
// itself, and one of its name beside the recording or in the directories for dumps. The first file
// of a process is the program itself.
//
// perf keeps the build ids of files with samples, and no others. Without one, the inode identifies
// the mapped file. A copy has another inode, and is used only if the mapped file is gone. If the
// mapped file was replaced, the build of a copy cannot be checked.
func instrumented(s *recording.Recording, m *recording.FileMap, maps []recording.FileMap, binaries *programs, first bool, opts *config.Options) (*program, error) {
	want := m.BuildID
	if want == "" {
		want = s.BuildID(m.Name)
	}
	base := filepath.Base(m.Name)
	for _, b := range binaries.named {
		named := want == "" && (filepath.Base(b.path) == base || first && len(binaries.named) == 1)
		if named || want != "" && b.functions.BuildID == want {
			p := &program{path: b.path, functions: b.functions, unchecked: want == "" && !binaries.try(s, m, b.path).same}
			if want == "" && !p.fits(maps, m) {
				return nil, fmt.Errorf("%s: %w", quote.Printable(b.path), errNoFit)
			}
			return p, nil
		}
	}
	why := errGone
	places := []string{m.Name, filepath.Join(s.In.Dir, base)}
	for _, dir := range opts.DumpDirs {
		places = append(places, filepath.Join(dir, base))
	}
	there, err := sys.Stat(m.Name)
	if err != nil && !safefile.IsAbsent(err) { // a copy would not be known from another build
		return nil, fmt.Errorf("%s: %w", quote.Printable(m.Name), safefile.WithoutPath(err))
	}
	for i, path := range places {
		f := binaries.try(s, m, path)
		if f.err != nil {
			return nil, fmt.Errorf("%s: %w", quote.Printable(path), f.err)
		}
		if f.info == nil {
			continue
		}
		unchecked := !f.same && want == "" && (there == nil || i == 0 && madeUpDevice(m, there))
		if i > 0 && there != nil && !f.same && os.SameFile(there, f.info) {
			continue // the same file under another name
		}
		if !f.same && !unchecked {
			if why == errGone {
				why = errOtherBuild
			}
			continue
		}
		if f.unread != nil {
			return nil, f.unread
		}
		p := &program{path: path, functions: f.functions, unchecked: unchecked}
		if want == "" && !p.fits(maps, m) {
			why = errNoFit
			continue
		}
		return p, nil
	}
	for _, b := range binaries.named {
		if filepath.Base(b.path) == base {
			return nil, fmt.Errorf("%s: %w", quote.Printable(b.path), errOtherBuild)
		}
	}
	return nil, why
}

// madeUpDevice reports whether a file has the mapped inode on another device. File systems like
// btrfs and overlayfs make up the device in stat(2).
func madeUpDevice(m *recording.FileMap, st os.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && m.File.Inode != 0 && sys.Ino == m.File.Inode && (unix.Major(sys.Dev) != m.File.Major || unix.Minor(sys.Dev) != m.File.Minor)
}

// fits reports whether the program's code is as long as the mappings of a file.
func (p *program) fits(maps []recording.FileMap, file *recording.FileMap) bool {
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for i := range maps {
		if m := &maps[i]; m.Same(file) {
			lo, hi = min(lo, m.Off), max(hi, m.Off+(m.Hi-m.Lo))
		}
	}
	return p.functions.Fits(lo, hi)
}

// place sets the bias of the program.
func (p *program) place(maps []recording.FileMap, file *recording.FileMap) error {
	for i := range maps {
		if m := &maps[i]; m.Same(file) {
			if bias, ok := p.functions.Bias(m.Lo, m.Off); ok {
				p.bias = bias
				return nil
			}
		}
	}
	if !p.functions.Relocated {
		return nil
	}
	return report.Advise(fmt.Errorf("the recording has no mapping of code of %s, so the addresses of its functions are unknown", quote.Printable(file.Name)),
		"record the program from its beginning")
}
