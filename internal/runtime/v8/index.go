package v8

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/quote"
)

// An index has the optimized code of a log that may be in the dump.
type index struct {
	src  io.ReaderAt
	name string // of the log, for messages; "" where they have it already

	scripts   []script
	functions []function
	objects   []object
	inlined   []int32 // of all objects: indexes in functions, or unknown

	created   int // code objects of functions
	optimized int // code objects of Maglev and Turbofan with positions
	isolates  int
	// began has, for each isolate, the time of its first function in microseconds if V8 began to log code
	// after the isolate had started: without its builtins. Otherwise it is 0.
	began   []uint64
	damaged int   // number of damaged lines
	damage  error // the first
	cut     int64 // offset of the unfinished last line, or -1
	full    int64 // offset of the first line that was not kept, or -1
	memory  int   // estimate, in bytes
	stopped bool  // the log was not read to its end: its first code is not in the dump

	// nameLimit bounds names of functions, in bytes; see boundNames.
	nameLimit int64
}

// maxStrange is the number of optimized functions after which reading stops if none is where the
// dump has one. Dumps have code from the start of their process on, too.
const maxStrange = 1024

// unknown is the index of a function or script that the log does not describe.
const unknown = -1

// An object is optimized code in the log.
type object struct {
	addr, size, time uint64 // time in microseconds of the isolate
	key              uint64 // hash of the name, as in the dump
	sum              uint64 // of its lists: it tells whether they have changed
	isolate          int32
	function         int32 // index of its own function
	script           int32
	first, last      int32 // its inlined functions, in index.inlined
	positions        v8log.Span
	calls            v8log.Span
}

// maxIndex bounds the memory of the indexes of a run, in bytes. The index of a log of 800 MB, with
// 800,000 functions, needs it.
const maxIndex = 80 << 20

// Memory of kept things, in bytes, with that of tables.
const (
	scriptMemory   = 256
	functionMemory = 40
	objectMemory   = 160
)

// A reading is a log to be read.
type reading struct {
	ctx    context.Context
	src    io.ReaderAt
	name   string           // of the log, for messages
	wanted map[place]int    // number of loads of the dump
	limit  int              // of the index's memory, in bytes
	watch  func(done int64) // if not nil, gets the number of bytes that are read
	done   int64
	log    *Log // gets all code, if not nil
}

// ReadAt reads the log from its beginning to its end. It fails when ctx is done: the reader of the
// log asks for a block of a few hundred kilobytes at a time, however long the lines are.
func (l *reading) ReadAt(b []byte, off int64) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := l.src.ReadAt(b, off)
	if end := off + int64(n); end > l.done {
		if l.done = end; l.watch != nil {
			l.watch(end)
		}
	}
	return n, err
}

// index reads the log. It fails if the log cannot be read, or if ctx is done. Damaged lines are
// left out.
func (l *reading) index() (*index, error) {
	r, err := v8log.NewReader(l)
	if err != nil {
		return nil, err
	}
	s := &scanner{index: &index{src: l.src, name: l.name, cut: -1, full: -1}, wanted: l.wanted, limit: l.limit, log: l.log}
	s.beginIsolate()
	for !s.stopped {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if damage := (*v8log.Error)(nil); errors.As(err, &damage) {
			s.addDamage(err)
			continue
		}
		if err != nil {
			return nil, err
		}
		s.record(rec)
	}
	if log := l.log; log != nil && log.longest > 0 && s.time > log.longest && s.before <= log.longest && !s.jumped {
		s.dropLast(l.done) // the last line
	}
	s.cut = r.Cut
	s.boundNames(l.done)
	return s.index, nil
}

// lacking returns the number of objects with inlined functions from before the log began, and the time
// from the first of their isolates' start to that, in microseconds.
func (x *index) lacking() (n int, began uint64) {
	for i := range x.objects {
		if o := &x.objects[i]; x.began[o.isolate] > 0 && slices.Contains(x.inlined[o.first:o.last], unknown) {
			if n++; n == 1 {
				began = x.began[o.isolate]
			}
		}
	}
	return n, began
}

// problem returns an error about the log.
func (x *index) problem(err error) error {
	if x.name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", quote.Printable(x.name), err)
}
