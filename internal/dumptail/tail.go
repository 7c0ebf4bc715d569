package dumptail

import (
	"errors"
	"time"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

var (
	// errNoBuffer says that the dump ends inside a record, and that no FILE for it is in the memory
	// of the process: it writes without stdio, or with an unknown C library.
	errNoBuffer = errors.New("the dump ends inside a record, and the process has no stdio buffer of glibc or musl for it")

	// errBusy says that the process wrote to the dump at each try.
	errBusy = errors.New("the process wrote to its dump at each try to read the rest")

	// errMachine says that the dump ends inside a record, and that the layout of stdio buffers in the
	// process is not known.
	errMachine = errors.New("the dump ends inside a record, and only 64-bit processes on x86-64 and arm64 are searched for the rest")
)

const (
	// tries is how often a state is read until it is consistent. A process is inside fwrite for
	// microseconds, but it may be interrupted there.
	tries = 50

	// pause is the time between two tries.
	pause = 2 * time.Millisecond

	// maxFILEs bounds how many places in the memory are tried.
	maxFILEs = 16

	// maxHeld bounds the bytes of buffers that are read in all tries: the process chooses their size.
	maxHeld = 8 * maxBuffer
)

// Tail returns the size of the dump on the disk, in bytes, and the bytes that follow it, which the
// process has not written yet. tail is empty if nothing is missing.
//
// If the error is not nil, there is no tail, and size is valid all the same if the dump could be opened.
// The error is errNoBuffer, errBusy or errMachine, one of procmem.Open, procmem.ErrEnded if the process
// has ended, closed the dump or replaced its program, or that of reading the dump. The process goes on.
// Tail reads up to 256 MB of its memory and 128 MB of buffers, and, if it has no FILE, the dump.
func (d *Dump) Tail() (size int64, tail []byte, err error) {
	file, err := d.open(0)
	if err != nil {
		return 0, nil, err
	}
	defer file.Close()
	return d.tail(file)
}

func (d *Dump) tail(file *sys.File) (size int64, tail []byte, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, nil, err
	}
	size = info.Size()
	p, err := procmem.Open(d.PID)
	if err != nil {
		return size, nil, err
	}
	defer p.Close()
	if !isSupported(p) {
		if endingOf(file, size) == endsCut {
			err = errMachine
		}
		return size, nil, err
	}
	r := &reader{dump: d, process: p, file: file, records: follower{disk: growing{file: file}}}
	found, err := r.searchAll()
	if !found {
		return size, nil, err
	}
	return r.size, r.rest, nil
}

// searchAll searches the memory, in steps, and reports whether size and rest are set.
func (r *reader) searchAll() (found bool, err error) {
	heap, others := regionsOf(r.process)
	s := &search{process: r.process, fd: int32(r.dump.FD), regions: heap, left: maxSearched}
	if found, err := r.searched(s); found || err != nil {
		return found, err
	}
	// Nothing is missing where the dump ends after a record, unless that is chance: then the end of the
	// buffer is lost, if its FILE lies far away.
	later := max(s.left-nearSearched, 0)
	s.regions, s.left = others, s.left-later
	if found, err := r.searched(s); found || err != nil {
		return found, err
	}
	info, err := r.file.Stat()
	if err != nil {
		return false, err
	}
	if endingOf(r.file, info.Size()) != endsCut {
		return false, r.process.Check()
	}
	s.left += later
	if found, err := r.searched(s); found || err != nil {
		return found, err
	}
	if err := r.process.Check(); err != nil {
		return false, err
	}
	if r.busy {
		return false, errBusy
	}
	return false, errNoBuffer
}

// A reader reads a consistent state of a dump and of its buffer.
type reader struct {
	dump    *Dump
	process *procmem.Process
	file    *sys.File // the dump
	records follower
	tried   int  // number of places
	held    int  // bytes of buffers that were read
	busy    bool // one of them was a FILE, without a consistent state

	size int64  // of the file, in bytes
	rest []byte // what follows
}

// searched tries the places of a search, and reports whether size and rest are set. The error is of
// the process or of the file.
func (r *reader) searched(s *search) (found bool, err error) {
	for r.tried < maxFILEs {
		addr, lib, err := s.next()
		if err != nil || lib == nil {
			return false, err
		}
		r.tried++
		if found, err := r.read(addr, lib); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// read reads the FILE at an address until its state is consistent, and reports whether it became so.
func (r *reader) read(addr uint64, lib *library) (bool, error) {
	var last *state
	for i := 0; i < tries && r.held < maxHeld; i++ {
		now, changing, err := r.state(addr, lib)
		switch {
		case errors.As(err, new(*elfcore.MissingError)):
			return false, nil // its memory is gone
		case err != nil:
			return false, err
		case changing:
		case now == nil:
			return false, nil // something else is there by now
		default:
			last = now
			if rest, ok := last.unwritten(r.file, &r.records); ok {
				r.size, r.rest = last.size, rest
				return true, nil
			}
		}
		time.Sleep(pause)
	}
	r.busy = true
	if last == nil {
		return false, nil
	}
	// The process stands still, in the middle of a write.
	rest, ok := last.unfinished(r.file)
	if ok {
		r.size, r.rest = last.size, rest
	}
	return ok, nil
}
