package mono

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/source/memcode"
	"github.com/jitinject/jitinject/internal/wire"
)

// ErrNotLog says that a file is no log of Mono's profiler.
var ErrNotLog = monolog.ErrNotMonoLog

// A Log is a log of Mono's log profiler, scanned once. It has the address, size and load time of
// methods, but not their bytes. Times are of CLOCK_MONOTONIC.
//
// Only events about code and calls are kept, so memory grows with the functions. Offsets are those
// of the uncompressed log.
type Log struct {
	memcode.Dump

	// Addressless counts methods without an address in the log. Merged counts methods with two
	// names; see monoMerge.
	Addressless int
	Made        int // of Addressless: they have a made-up address, because the log has calls
	Merged      int

	// Astray counts functions with impossible addresses. They are dropped.
	Astray int

	// Short removes the parameters from function names.
	Short bool

	header  *monolog.Header
	src     *io.SectionReader // the whole file
	reader  *monolog.Reader
	scanned bool
	latest  uint64 // latest time in the log
	at      int64  // offset of the current buffer

	names        functionNames
	places       map[uint64]int // latest function at an address so far
	methods      methods
	reportedFull bool
	calls        logCalls
}

var (
	_ source.Dump        = (*Log)(nil)
	_ source.WithoutCode = (*Log)(nil)
)

// ReadLog reads the header of a log, plain or packed by gzip. It fails if the file is not readable
// as a log.
func ReadLog(src io.ReaderAt) (*Log, error) {
	all := io.NewSectionReader(src, 0, math.MaxInt64)
	r, err := monolog.NewReader(all)
	if err != nil {
		return nil, err
	}
	header := *r.Header() // a copy: a pointer into the reader would keep its window
	m := &Log{Dump: memcode.Dump{Listing: source.Listing{Cut: -1}}, header: &header, src: all, reader: r, places: make(map[uint64]int)}
	m.Code = jitcode.Target{Machine: uint32(source.MachineOf(m.header.Arch, m.header.PtrSize)), Order: binary.LittleEndian}
	return m, nil
}

// Header returns the header of the log.
func (m *Log) Header() *monolog.Header { return m.header }

// PID returns the process in the header, in its own pid namespace. It is 0 for logs of 2010, which
// do not have it.
func (m *Log) PID() uint32 { return m.header.PID }

// NumFunctions returns the number of functions.
func (m *Log) NumFunctions() int { return len(m.names.of) }

// Scan reads the log. A damaged part becomes a Problem with an offset, and reading goes on after
// it. A second call does nothing, even if the log has grown.
func (m *Log) Scan(ctx context.Context) error {
	if m.scanned {
		return nil
	}
	for {
		if err := m.pause(ctx); err != nil {
			return err
		}
		buffer, err := m.reader.NextBuffer()
		if err == io.EOF {
			break
		}
		if err != nil {
			m.damaged(err, "")
			continue
		}
		m.at = buffer.Offset
		m.latest = max(m.latest, buffer.Time)
		m.calls.begin(buffer)
		err = m.buffer(ctx, buffer.Thread)
		m.calls.end(buffer.Thread)
		if err != nil {
			return err
		}
	}
	m.placeUnplaced()
	m.scanned, m.Start = true, m.Began()
	m.places, m.reader = nil, nil
	return m.pause(ctx)
}

// pause reports the offset of the scan, and returns ctx's error.
func (m *Log) pause(ctx context.Context) error {
	if m.Watch != nil {
		off, _ := m.src.Seek(0, io.SeekCurrent)
		m.Watch(off)
	}
	return ctx.Err()
}

// buffer reads the events of one buffer.
func (m *Log) buffer(ctx context.Context, thread uint64) error {
	for n := 1; ; n++ {
		if n%(64<<10) == 0 {
			if err := m.pause(ctx); err != nil {
				return err
			}
		}
		e, err := m.reader.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			m.damaged(err, "; the rest of its buffer is left out")
			return nil
		}
		switch e.Kind {
		case monolog.KindJIT:
			m.jitted(e)
		case monolog.KindJITHelper:
			m.helper(e)
		}
		m.calls.see(e, thread)
		m.latest = max(m.latest, e.Time)
	}
}

// damaged makes a problem of an error. A log that ends inside a buffer is usual: its process was
// killed, or still writes.
func (m *Log) damaged(err error, cost string) {
	off := int64(-1)
	var at *wire.Error
	if errors.As(err, &at) {
		off = at.Offset
	}
	if errors.Is(err, monolog.ErrCut) {
		m.Cut = max(off, m.at)
		return
	}
	m.Problem(off, "%v%s", err, cost)
}
