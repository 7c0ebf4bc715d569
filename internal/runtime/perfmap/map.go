package perfmap

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"math"

	"github.com/jitinject/jitinject/internal/format/perfmap"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/source/memcode"
	"github.com/jitinject/jitinject/internal/wire"
)

// A Map is a perf map, scanned once. Names stay in the file.
type Map struct {
	memcode.Dump

	// Lines counts the functions that the map lists, with those that have no address any more.
	Lines int
	// Replaced counts lines that lost addresses to later ones of other names. Hidden counts lines
	// that lost all: they are dropped.
	Replaced, Hidden int
	// Repeated counts lines that occur again later. They are dropped.
	Repeated int
	// Elsewhere counts functions outside executable memory. They are dropped.
	Elsewhere int

	src     io.ReaderAt
	scanned bool
	lines   []line
	wazero  wazero
	parts   []part // by function
}

// A line is a function of the file.
type line struct {
	offset int64 // in the file, in bytes
	start  uint64
	size   uint64
	name   uint64 // hash of the name
	fields uint64 // hash of the line's
	length int32  // of the line in the file, in bytes, with its newline; of the first, if several are one function
}

// A part is a function of the dump: the addresses of a line up to those that a later one has.
type part struct {
	line  int32
	whole bool // it has all of the line's addresses
}

var (
	_ source.Dump        = (*Map)(nil)
	_ source.WithoutCode = (*Map)(nil)
	_ source.PartlyTimed = (*Map)(nil)
)

// maxLines bounds the functions of a map: any user may write a file of any size to /tmp.
const maxLines = 4 << 20

func newMap(src io.ReaderAt) *Map {
	m := &Map{Dump: memcode.Dump{Listing: source.Listing{Cut: -1}}, src: src}
	m.Load = func(i int) *jitcode.Event {
		if !m.parts[i].whole { // the rest of it was replaced, so the memory there may be anything
			return nil
		}
		return &m.Events[i]
	}
	return m
}

// Scan reads the map. A damaged line becomes a Problem. A second call does nothing, even if the map
// has grown.
func (m *Map) Scan(ctx context.Context) error {
	if m.scanned {
		return nil
	}
	r := perfmap.NewReader(io.NewSectionReader(m.src, 0, math.MaxInt64))
	for n := 0; ; n++ {
		if n%(16<<10) == 0 {
			if err := ctx.Err(); err != nil {
				m.lines = nil
				return err
			}
			if m.Watch != nil {
				m.Watch(r.Offset())
			}
		}
		l, err := r.Next()
		if err == io.EOF {
			break
		}
		if !m.add(&l, int32(r.Offset()-l.Offset), err) {
			break
		}
	}
	m.Cut = r.Cut()
	m.Lines = len(m.lines)
	m.resolve()
	m.scanned = true
	if m.Watch != nil {
		m.Watch(r.Offset())
	}
	return ctx.Err()
}

// add adds a line of length bytes, or its damage. It returns false if reading cannot go on.
func (m *Map) add(l *perfmap.Line, length int32, err error) bool {
	var damage *wire.Error
	switch {
	case errors.As(err, &damage):
		m.Problem(damage.Offset, "%v; the line is left out", err)
	case err != nil:
		m.Problem(l.Offset, "it cannot be read from offset %#x on: %v", l.Offset, err)
		return false
	case !isPossible(l.Start, l.Size):
		m.Problem(l.Offset, "perf map: line at offset %#x: no code is at %#x with %#x bytes; the line is left out", l.Offset, l.Start, l.Size)
	case m.continues(l):
		m.lines[len(m.lines)-1].size += l.Size
	case len(m.lines) == maxLines:
		m.Problem(l.Offset, "it has more than %d functions; those from offset %#x on are left out", maxLines, l.Offset)
		return false
	default:
		m.lines = append(m.lines, line{offset: l.Offset, start: m.wazero.start(l), size: l.Size, name: hash(l.Name), fields: hashOf(l), length: length})
	}
	return true
}

// continues reports whether a line is a further part of the last one's function.
func (m *Map) continues(l *perfmap.Line) bool {
	if len(m.lines) == 0 {
		return m.wazero.joins(l, 0)
	}
	last := &m.lines[len(m.lines)-1]
	return m.wazero.joins(l, last.start+last.size) && last.size+l.Size <= source.MaxRange
}

// hashOf returns a hash of a line's fields.
func hashOf(l *perfmap.Line) uint64 { return hash(l.Name) ^ l.Start*3 ^ l.Size*5 }

var seed = maphash.MakeSeed()

func hash(name []byte) uint64 { return maphash.Bytes(seed, name) }

// HasTimes returns false.
func (m *Map) HasTimes() bool { return false }

// StartAt sets the load times of all functions, by address.
func (m *Map) StartAt(_ uint64, time func(addr uint64) uint64) {
	for i := range m.Events {
		m.Events[i].Time = time(m.Events[i].Addr)
	}
}

// Traits returns the traits of maps. perf takes names from a file for code in it.
func (m *Map) Traits() source.Traits {
	return source.Traits{Kind: Kind, Trust: source.TrustMap, Images: true, Tidied: true}
}

// NumFunctions returns the number of functions.
func (m *Map) NumFunctions() int { return len(m.parts) }

// Kind is the kind of perf maps in the summary and in options.
const Kind = "perf-map"

// ErrNotMap says that a file is no perf map.
var ErrNotMap = errors.New("it is no perf map: these have lines START SIZE NAME, with numbers in hexadecimal")

// Identify reports whether a file begins as a perf map, with a function at a possible address.
func Identify(src io.ReaderAt, _ string) bool {
	l, err := perfmap.NewReader(io.NewSectionReader(src, 0, perfmap.MaxLine)).Next()
	return err == nil && isPossible(l.Start, l.Size)
}

// Open returns the map in a file, not yet scanned. It fails with ErrNotMap for another file.
func Open(src io.ReaderAt) (source.Dump, error) {
	if !Identify(src, "") {
		return nil, ErrNotMap
	}
	return newMap(src), nil
}

// isPossible reports whether code may be at an address. Nothing is mapped at the lowest ones, and
// the upper half is the kernel's.
func isPossible(start, size uint64) bool {
	return start >= source.MinCode && start < source.MaxCodeAddr && size <= source.MaxRange
}
