package v8

import (
	"context"
	"errors"
	"io"

	"github.com/jitinject/jitinject/internal/format/v8log"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/runtime/v8/stays"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/source/memcode"
)

// ErrNotLog says that a file is no log of V8.
var ErrNotLog = errors.New("it is no log of V8: these begin with v8-version")

// A Log is a log of V8 as a dump of its own: it has the places, names, lines and inlined calls of code, and no
// bytes. It has no events before its process is known: see take.
type Log struct {
	memcode.Dump

	src     io.ReaderAt
	limit   int            // of the index's memory, in bytes
	longest uint64         // the latest time that it may have, in nanoseconds of an isolate; 0 if unknown
	index   *index         // nil before Scan
	codes   []code         // by function
	code    stays.Log      // where and when codes are
	shared  bool           // several isolates wrote it at once
	sources source.Sources // the texts of scripts
}

// A code is a function of the log.
type code struct {
	prefix  string     // tag, colon and tier
	name    v8log.Span // in the log
	escaped int32      // of the name: from here on, it is escaped
	sum     uint64     // of the name: it tells whether that has changed
	key     uint64     // hash of the name, as in a dump: see stays.Code
	object  int32      // its lines and inlined calls in the index, or unknown
	load    int32      // index of its load in Events
}

var (
	_ source.Dump        = (*Log)(nil)
	_ source.WithoutCode = (*Log)(nil)
	_ source.PartlyTimed = (*Log)(nil)
	_ source.Offset      = (*Log)(nil)
	_ source.Texter      = (*Log)(nil)
	_ source.Namer       = (*Log)(nil)
)

// Open returns the log in a file, not yet scanned. It fails with ErrNotLog for another file.
func Open(src io.ReaderAt) (source.Dump, error) {
	if !v8log.IsLog(src) {
		return nil, ErrNotLog
	}
	l := &Log{Dump: memcode.Dump{Listing: source.Listing{Cut: -1}}, src: src, limit: maxIndex}
	l.Load = l.loadOf
	return l, nil
}

// Scan reads the log. A second call does nothing, even if the log has grown.
func (l *Log) Scan(ctx context.Context) error {
	if l.index != nil {
		return nil
	}
	read := reading{ctx: ctx, src: l.src, limit: l.limit, log: l, watch: l.Watch}
	x, err := read.index()
	if ctx.Err() != nil {
		l.codes, l.code = nil, stays.Log{}
		return ctx.Err()
	}
	if err != nil {
		l.Problem(-1, "%v", err)
		l.codes, l.code, x = nil, stays.Log{}, &index{cut: -1, full: -1}
	}
	l.index, l.Cut = x, x.cut
	if x.damaged > 0 {
		l.Problem(-1, "damaged lines are left out: %d, the first: %v", x.damaged, x.damage)
	}
	if x.full >= 0 {
		l.Problem(x.full, "the logs need more than %d MiB of memory; code after this offset is left out", maxIndex>>20)
	}
	l.sources.AddTexts((&target{indexes: []*index{x}}).texts())
	return nil
}

// take takes the events of its code, and leaves out the functions without one. The others are numbered in the order
// of their loads.
func (l *Log) take() {
	l.Events = l.code.Events
	codes, number := make([]code, 0, len(l.codes)), make([]int, len(l.codes))
	for i := range l.Events {
		e := &l.Events[i]
		if e.Kind == jitcode.Load {
			number[e.Function] = len(codes)
			c := l.codes[e.Function]
			c.load, c.key = int32(i), l.code.Codes[e.Function].Key
			codes = append(codes, c)
		}
		e.Function = int32(number[e.Function])
		e.Index = uint64(e.Function)
		l.Code.HighAddress = max(l.Code.HighAddress, e.Addr+e.Size)
	}
	l.codes = codes
	l.code = stays.Log{Offsets: l.code.Offsets, Own: l.code.Own, Unclear: l.code.Unclear}
}

// Traits returns the traits of logs.
func (l *Log) Traits() source.Traits {
	return source.Traits{Kind: Kind, Trust: source.TrustLog, Attached: true, Unchecked: true}
}

// HasTimes returns false: no clock matters.
func (l *Log) HasTimes() bool { return false }

// StartAt does nothing.
func (l *Log) StartAt(uint64, func(addr uint64) uint64) {}

// Offset returns the least time at which an isolate of the log began, and the largest uncertainty of these.
func (l *Log) Offset() (least, width int64) {
	least = stays.Never
	for _, b := range l.code.Offsets {
		if !b.IsEmpty() {
			least, width = min(least, b.Lo), max(width, b.Width())
		}
	}
	return least, width
}

// NumFunctions returns the number of functions.
func (l *Log) NumFunctions() int { return len(l.codes) }
