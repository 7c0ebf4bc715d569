package registered

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/procmem"
)

// A running process changes its list while it is read. Nothing stops it: a stopped process would miss
// deadlines, and a debugger that stops it makes some of its system calls fail (EINTR). Instead, all is
// read twice: lists, objects and code. If the two agree, the memory had that state between them. A
// list that is being changed, or memory that is used again, differs.

const (
	// maxReads bounds how often a running process is read.
	maxReads = 12

	// firstPause is the pause after two reads that differ, which doubles with each.
	firstPause = 500 * time.Microsecond
)

// settled reads the lists until two reads agree.
func (p *Process) settled(places []Place) (*Registered, error) {
	var last *Registered
	pause := firstPause
	for range maxReads {
		r, err := p.readWithCode(places)
		if err != nil {
			return nil, err
		}
		if last != nil && r.equal(last) {
			return r, nil
		}
		if last != nil {
			time.Sleep(pause)
			pause *= 2
		}
		last = r
	}
	return p.common(places, last)
}

// readWithCode reads the lists, the objects and their code once.
func (p *Process) readWithCode(places []Place) (*Registered, error) {
	r := p.read(places)
	room, left := uint64(maxCode), 0
	for i := range r.Objects {
		if err := r.Objects[i].readCode(p, &room, &left); err != nil {
			return nil, err
		}
	}
	if left > 0 {
		r.Problems = append(r.Problems, fmt.Errorf("the code of %d of its functions is left out: a function may have %d MiB, and all together %d MiB", left, maxFunction>>20, maxCode>>20))
	}
	return r, ended(r.Problems)
}

// common reads once more, and keeps what is in both reads.
func (p *Process) common(places []Place, last *Registered) (*Registered, error) {
	r, err := p.readWithCode(places)
	if err != nil {
		return nil, err
	}
	before := len(r.Objects)
	known := make(map[uint64]*Object) // by entry
	for i := range last.Objects {
		known[last.Objects[i].Addr] = &last.Objects[i]
	}
	r.Objects = slices.DeleteFunc(r.Objects, func(o Object) bool {
		other := known[o.Addr]
		return other == nil || !o.equal(other)
	})
	r.Unstable = true
	r.Problems = []error{fmt.Errorf("the process registered or removed objects at each of %d reads; %d of %d objects stayed", maxReads+1, len(r.Objects), before)}
	return r, nil
}

// ended returns ErrEnded if a problem is that.
func ended(problems []error) error {
	for _, err := range problems {
		if errors.Is(err, procmem.ErrEnded) {
			return procmem.ErrEnded
		}
	}
	return nil
}

// equal reports whether two reads found the same.
func (r *Registered) equal(other *Registered) bool {
	if len(r.Lists) != len(other.Lists) || len(r.Problems) != len(other.Problems) {
		return false
	}
	for i, l := range r.Lists {
		if l.First != other.Lists[i].First || !slices.Equal(l.Entries, other.Lists[i].Entries) {
			return false
		}
	}
	return slices.EqualFunc(r.Objects, other.Objects, func(a, b Object) bool { return a.equal(&b) })
}

// equal reports whether an object is the same in two reads.
func (o *Object) equal(other *Object) bool {
	return o.Addr == other.Addr && o.Symfile == other.Symfile && bytes.Equal(o.Image, other.Image) &&
		slices.EqualFunc(o.code, other.code, func(a, b piece) bool { return a.addr == b.addr && bytes.Equal(a.bytes, b.bytes) })
}

// pieces are copies of memory, in the order of their addresses.
type pieces []piece

type piece struct {
	addr  uint64
	bytes []byte
}

// ReadCode is as in jitcode.Memory.
func (ps pieces) ReadCode(addr uint64, b []byte) error {
	i := sort.Search(len(ps), func(i int) bool { return ps[i].addr > addr })
	if i > 0 {
		if p := &ps[i-1]; addr-p.addr <= uint64(len(p.bytes)) && uint64(len(b)) <= uint64(len(p.bytes))-(addr-p.addr) {
			copy(b, p.bytes[addr-p.addr:])
			return nil
		}
	}
	return &elfcore.MissingError{Addr: addr, Running: true}
}

// maxFunction and maxCode bound the code that is copied, in bytes: of a function, and in all. A small
// process may register one object many times.
const (
	maxFunction = 16 << 20
	maxCode     = 128 << 20
)

// readCode copies the code of the object's functions. Code that cannot be read is left out. room is the
// number of bytes that may still be copied. left counts the functions without room. The error says that
// the process has ended.
func (o *Object) readCode(p *Process, room *uint64, left *int) error {
	for _, f := range o.Functions {
		if f.Size > min(maxFunction, *room) {
			*left++
			continue
		}
		var probe [1]byte
		err := p.ReadCode(f.Addr+f.Size-1, probe[:])
		if err == nil {
			b := make([]byte, f.Size)
			if err = p.ReadCode(f.Addr, b); err == nil {
				*room -= f.Size
				o.code = append(o.code, piece{f.Addr, b})
			}
		}
		if errors.Is(err, procmem.ErrEnded) {
			return err
		}
	}
	return nil
}
