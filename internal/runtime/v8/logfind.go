package v8

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/v8/stays"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/source"
)

// Finding logs as dumps of their own. What a log says of a dump's functions is found by Attach.

// maxOthers bounds the logs without the number of a process in their names that are read, and maxLogs those of one
// process: each thread with JavaScript has one.
const (
	maxOthers = 100
	maxLogs   = 256
)

// A search finds the logs of processes.
type logSearch struct {
	*locate.Finder
	ctx     context.Context
	dumps   map[uint32][]*jitdump.Dump
	lacking map[uint32]bool        // processes that may lack code
	wanted  map[uint32]bool        // those that do, as far as that was asked
	lives   map[uint32]*stays.Life // a few: one needs much memory
	found   map[uint32][]foundLog
	known   map[*locate.SideFile]bool // all of found
	memory  int                       // of the indexes of logs that are used or may be
	others  int                       // number of logs without a process that were read
	copies  int                       // number of logs that are copies of others
	named   map[string]error
}

// A foundLog is a log that may be of a process.
type foundLog struct {
	*locate.SideFile
	log     *Log
	says    string // where it was found
	known   string // what it was known by, if not by its name
	written int64  // see stays.Life.Bound
}

// Complete makes markers for logs of processes with code that no dump describes. The merge decides what
// they have in common with the dumps. The error is ctx's.
func Complete(ctx context.Context, f *locate.Finder, dumps map[uint32][]source.Dump) error {
	s := &logSearch{
		Finder: f, ctx: ctx, dumps: make(map[uint32][]*jitdump.Dump), lacking: make(map[uint32]bool), wanted: make(map[uint32]bool), lives: make(map[uint32]*stays.Life),
		found: make(map[uint32][]foundLog), known: make(map[*locate.SideFile]bool), named: make(map[string]error),
	}
	attaches := false
	for pid, of := range dumps {
		for _, d := range of {
			if j, ok := d.(*jitdump.Dump); ok {
				s.dumps[pid] = append(s.dumps[pid], j)
				attaches = attaches || j.IsV8()
			}
		}
		s.lacking[pid] = f.Rec.HasMemory(pid)
	}
	if err := s.run(); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(s.named)) {
		if err := s.named[path]; err != nil && !attaches { // Attach looks for the dump of each log that is named
			f.Unreadable.Problem(report.ProblemOf(path, err, ""))
		}
	}
	return nil
}

// wants reports whether a process lacks code. That is asked only for logs that are there: most runs have none.
func (s *logSearch) wants(pid uint32) bool {
	wants, asked := s.wanted[pid]
	if !asked {
		wants = s.lacking[pid] && s.lacks(pid)
		s.wanted[pid] = wants
	}
	return wants
}

// wantsAny reports whether any process lacks code.
func (s *logSearch) wantsAny() bool {
	for pid := range s.lacking {
		if s.wants(pid) {
			return true
		}
	}
	return false
}

// lacks reports whether the dumps of a process may leave out functions that matter: there are none, one was cut, or
// samples are in memory for code that none of them describes.
func (s *logSearch) lacks(pid uint32) bool {
	dumps := s.dumps[pid]
	isCut := slices.ContainsFunc(dumps, func(d *jitdump.Dump) bool { return d.Cut >= 0 })
	if len(dumps) == 0 || isCut || s.Rec.Histogram == nil || s.Rec.Histogram.Over {
		return true
	}
	loads := stays.NewLoads()
	for _, d := range dumps {
		for _, e := range d.Events {
			if e.Size > 0 {
				loads.AddAlways(e.Addr, e.Size)
			}
		}
	}
	return s.life(pid).Misses(loads)
}

func (s *logSearch) life(pid uint32) *stays.Life {
	f := s.lives[pid]
	if f == nil {
		if len(s.lives) == maxOwners {
			clear(s.lives)
		}
		f = stays.LifeOf(s.Rec, pid)
		s.lives[pid] = f
	}
	return f
}

// run looks for the logs that the user names, those beside the recording and beside dumps, and those in the
// directories of DumpDirs. Each file is read once. The error is ctx's.
func (s *logSearch) run() error {
	for _, n := range s.Opts.Named(Kind) {
		s.named[n.Path] = errNoProcess
		if err := s.try(n.Path, "named with "+report.MentionedFile(Kind, "", ""), n.PID, true); err != nil {
			return err
		}
	}
	dirs := append([]string{s.Rec.In.Dir}, s.Dirs()...)
	own := len(dirs)
	for _, m := range s.Rec.Markers {
		if s.lacking[m.PID] && m.Pos >= 0 {
			dirs = append(dirs, filepath.Dir(m.Path))
		}
	}
	tried := make(map[string]bool)
	for i, dir := range dirs {
		if dir = filepath.Clean(dir); tried[dir] {
			continue
		}
		tried[dir] = true
		says := "found in " + dir
		if i == 0 {
			says = "found beside the recording"
		}
		for _, path := range largestFirst(s.Glob(dir, "*.log")) {
			pid, ok := v8log.ProcessOf(filepath.Base(path))
			isLog := ok || strings.Contains(filepath.Base(path), "v8")
			if ok = ok && s.Rec.HasMemory(pid); !ok {
				pid = 0
			}
			if !isLog || ok && !s.wants(pid) || !ok && i >= own || len(s.found[pid]) == maxLogs {
				continue
			}
			if err := s.try(path, says, pid, false); err != nil {
				return err
			}
		}
	}
	for _, pid := range s.Rec.PIDs() {
		if len(s.found[pid]) > 0 {
			s.give(pid, s.found[pid])
		}
	}
	return nil
}

// errNoProcess is the refusal of a log without a process that lacks code where it has some.
var errNoProcess = errors.New("no process of the recording had executable memory where its code is, and lacks a description of that")

// try adds a log to those of its process, if it can be the process's own. pid is 0 if only its code decides. The error
// is ctx's.
func (s *logSearch) try(path, says string, pid uint32, named bool) error {
	if pid == 0 && named {
		if of, ok := v8log.ProcessOf(filepath.Base(path)); ok && s.Rec.HasMemory(of) {
			pid = of
		}
	}
	if pid != 0 && !s.wants(pid) || !s.wantsAny() {
		return nil
	}
	file, err := safefile.Open(path)
	if err != nil {
		if !safefile.IsAbsent(err) && !locate.IsOthers(path) {
			s.Unread(path, err)
		}
		return nil
	}
	side, err := s.SideFile(file, path)
	if err != nil {
		return nil
	}
	l, ok := side.Source.(*Log)
	if ok && side.Taken && named {
		s.named[path] = nil
	}
	if !ok || side.Taken || s.known[side] {
		return nil
	}
	one := foundLog{SideFile: side, log: l, says: says}
	err = s.check(&one, pid, named)
	l.code.Release()
	if s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	if err != nil {
		s.refuse(&one, pid, err)
		s.Forget(side)
	}
	return nil
}

// check scans a log, and adds it to those of its process. It fails if it is of none.
func (s *logSearch) check(one *foundLog, pid uint32, named bool) error {
	if !named && !safefile.OwnedByUserOrRoot(one.Info) && os.Geteuid() != 0 {
		return errors.New("it belongs to another user")
	}
	if pid == 0 {
		if s.others++; s.others > maxOthers {
			return errors.New("too many logs have no process in their names")
		}
	} else if err := s.checkTimes(one, pid); err != nil {
		return err
	}
	if one.log.limit = maxIndex - s.memory; pid != 0 {
		one.log.longest = s.life(pid).Longest(one.written)
	}
	if err := s.Scan(s.ctx, one.SideFile); err != nil {
		return err
	}
	if one.log.shared {
		return errors.New("several isolates wrote it at once, so its times are mixed up; record without --no-logfile-per-isolate")
	}
	if pid == 0 {
		var err error
		if pid, err = s.ownerOf(one, named); err != nil {
			return err
		}
		one.known = "found by where its functions lie"
	} else if err := s.life(pid).Fits(&one.log.code); err != nil {
		return err
	}
	if !s.wants(pid) {
		return fmt.Errorf("process %d lacks nothing", pid)
	}
	if slices.ContainsFunc(s.found[pid], func(o foundLog) bool { return o.log.isCopy(one.log) }) {
		if s.copies++; s.copies == 1 {
			s.Unreadable.Note(fmt.Sprintf("%s: another log has the same code; copies are left out", quote.Printable(one.Path)))
		}
		return errCopy
	}
	s.memory += one.log.index.memory
	s.found[pid] = append(s.found[pid], *one)
	s.known[one.SideFile] = true
	if named {
		s.named[one.Path] = nil
	}
	return nil
}

// checkTimes sets when a log was written. It fails if that was not in the life of a process.
func (s *logSearch) checkTimes(one *foundLog, pid uint32) error {
	f, later := s.life(pid), false
	one.written, later = f.WrittenAt(one.Info.ModTime())
	isNamed := slices.ContainsFunc(s.Opts.Named(Kind), func(n config.SideFile) bool { return n.PID == pid && n.Path == one.Path })
	switch {
	case isNamed:
		one.written = stays.Never
		return nil
	case one.written < int64(f.Began()):
		return fmt.Errorf("it was written before process %d began: it is of another run", pid)
	case later && !f.HasRandomAddresses(): // or else its code fits no other process
		return report.Advise(fmt.Errorf("it was written after process %d had ended: it is of another run", pid), "if it was only copied, copy it with its time: cp -p")
	}
	return nil
}

// isCopy reports whether two logs have the same code.
func (l *Log) isCopy(o *Log) bool {
	return len(l.code.Stays) > 0 && slices.Equal(l.code.Stays, o.code.Stays) && slices.EqualFunc(l.code.Codes, o.code.Codes, func(a, b stays.Code) bool { return a.Key == b.Key })
}

// errTimes is the refusal of a log by its times.
func errTimes(pid uint32) error {
	return fmt.Errorf("its times do not fit process %d: it is of another run", pid)
}

// give makes markers for the logs of a process that fit it, and have functions that its dumps leave out.
func (s *logSearch) give(pid uint32, found []foundLog) {
	f := s.life(pid)
	dumped := loadsOf(f, s.dumps[pid])
	var logs []*stays.Log
	for _, one := range found {
		logs = append(logs, &one.log.code)
	}
	for _, one := range found {
		f.Bound(&one.log.code, one.written, logs, dumped)
	}
	for _, l := range logs {
		dumped.Reconsider(l)
	}
	stays.Arrange(f, logs, dumped)
	for _, one := range found {
		l := one.log
		if l.take(); l.code.Own == 0 {
			if !slices.ContainsFunc(l.code.Offsets, func(b stays.Bounds) bool { return !b.IsEmpty() }) {
				s.refuse(&one, pid, errTimes(pid))
			}
			s.memory -= l.index.memory
			s.Forget(one.SideFile)
			continue
		}
		known := one.known
		if n := l.code.Unclear; n > 0 {
			known = strings.TrimPrefix(fmt.Sprintf("%s; functions are left out because it is not certain when others used their memory: %d; record from the start of the program, or with --perf-prof", known, n), "; ")
		}
		l.SetPID(pid)
		s.Mark(recording.Marker{PID: pid, Number: pid, Time: s.Rec.MarkerTime(pid), Path: one.Path, Pos: -1, Place: one.says, Known: known}, one.SideFile)
	}
}

// refuse notes why a log is not used. pid is the process in its name, or 0: most logs of others are left there from
// earlier runs.
func (s *logSearch) refuse(one *foundLog, pid uint32, err error) {
	s.Opts.Logf(1, "%s: %v", quote.Printable(one.Path), err)
	if _, isNamed := s.named[one.Path]; isNamed {
		s.named[one.Path] = err
	} else if pid != 0 && len(s.dumps[pid]) == 0 && !errors.Is(err, errCopy) && !errors.Is(err, stays.ErrNoCode) {
		s.Unreadable.Note(fmt.Sprintf("%s: %v; it is left out", quote.Printable(one.Path), err))
	}
}

// errCopy is the refusal of a log with the same code as another one.
var errCopy = errors.New("it is a copy")
