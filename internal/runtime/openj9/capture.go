package openj9

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/source"
)

// Kind is the kind of captures of OpenJ9's metadata in the summary and in options.
const Kind = "openj9-captures"

// errOtherMachine says that a capture is of another machine than the recording.
var errOtherMachine = errors.New("it is of another machine than the recording")

// A Capture is one capture of OpenJ9's metadata. Between probing and reading, only the places and
// times of its code are kept.
type Capture struct {
	Path string // of the metadata
	PID  uint32 // process in the capture; 0 if it has none
	Size int64  // of its files, in bytes
	Mode uint32 // permissions that all files have

	// Time is when the code was loaded, in nanoseconds of CLOCK_MONOTONIC, if HasTime is set.
	Time    uint64
	HasTime bool

	// Problems are faults of the capture. They cost lines and inlined calls, never a name.
	Problems []source.Problem

	// CodeErrors has an error for each unreadable code file. The bytes may come from elsewhere.
	CodeErrors []error

	parts    []part // the warm part, and the cold one if it exists
	method   uint64 // the compiled method
	layout   j9meta.Layout
	listings []source.Source
}

// A part is a part of a body's code.
type part struct {
	addr, size uint64
	cold       bool
	known      bool // its bytes are in a file of the capture
}

// Identify reports whether a path is one of the two files of a capture, and the other one exists.
// It does not examine their contents.
func Identify(_ io.ReaderAt, path string) bool { return j9meta.IsCapturePair(path) }

// HasCaptures reports whether a directory contains captures.
func HasCaptures(dir string) bool {
	captures, err := j9meta.FindCaptures(dir)
	return err == nil && len(captures) > 0
}

// ReadCapture reads a capture by the path of either of its files. machine, as in uname(2), is used if
// the capture has none. refused is as in j9meta.
func ReadCapture(path, machine string, refused func(path string) error) (*j9meta.Capture, error) {
	raw, err := j9meta.ReadCaptureWith(path, refused)
	if err != nil {
		return nil, err
	}
	l := &raw.Layout
	l.Machine = cmp.Or(source.MachineOf(raw.Machine, uint8(l.PointerSize)), source.MachineOf(machine, uint8(l.PointerSize)))
	return raw, nil
}

// OpenCapture reads a capture of a recording with the given machine, as in uname(2), and order. It
// fails if the capture is unreadable or of another machine; the error names the file.
func OpenCapture(path, machine string, order binary.ByteOrder) (*Capture, error) {
	return make(sharing).open(path, machine, order)
}

// A sharing counts the captures whose JSON names a file with code, by path.
type sharing map[string]int

// maxSharers bounds these.
const maxSharers = 16

// open is OpenCapture. A file of too many captures is not read again.
func (s sharing) open(path, machine string, order binary.ByteOrder) (*Capture, error) {
	raw, err := ReadCapture(path, machine, func(path string) error {
		if s[path]++; s[path] > maxSharers {
			return fmt.Errorf("more than %d captures name it", maxSharers)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*Capture, error) {
		return nil, fmt.Errorf("%s: %w", strings.Trim(strconv.Quote(raw.Path), `"`), err)
	}
	l := raw.Layout
	if m := source.MachineOf(machine, uint8(l.PointerSize)); l.Order != order || m != elf.EM_NONE && m != l.Machine {
		return fail(fmt.Errorf("%w: %v, with pointers of %d bytes, %v", errOtherMachine, l.Machine, l.PointerSize, l.Order))
	}
	parts, err := raw.Parts()
	if err != nil {
		return fail(err)
	}
	c := &Capture{Path: raw.Path, PID: raw.PID, Size: raw.Size, Mode: uint32(raw.Mode), CodeErrors: raw.CodeErrors, method: raw.RAMMethod(), layout: l}
	if c.HasTime = raw.Time != nil; c.HasTime {
		c.Time = *raw.Time
	}
	for i, at := range parts {
		p := part{addr: at.Start, size: at.End - at.Start, cold: i > 0}
		if p.addr < source.MinCode || p.addr > source.MaxCodeAddr-p.size {
			return fail(fmt.Errorf("its code would be at %#x, outside of user space", p.addr))
		}
		code := codeOf(raw, p.cold)
		if p.known = uint64(len(code)) == p.size; code != nil && !p.known {
			c.Problems = append(c.Problems, source.Problem{Offset: -1, Text: fmt.Sprintf("the code in its file has %d bytes, and the metadata says that there are %d; it is left out", len(code), p.size)})
		}
		c.parts = append(c.parts, p)
	}
	// Collect all problems here, once: the capture is read several times.
	r := newBodyReader()
	for i := range c.parts {
		r.read(raw, &c.parts[i])
	}
	for _, l := range r.listings { // all parts have the same listings
		c.listings = append(c.listings, source.Source{Name: l.File, Size: len(l.Text)})
	}
	for _, p := range r.problems {
		if !slices.Contains(c.Problems, p) {
			c.Problems = append(c.Problems, p)
		}
	}
	return c, nil
}

// codeOf returns the bytes of the warm or the cold part, or nil.
func codeOf(raw *j9meta.Capture, cold bool) []byte {
	if cold {
		return raw.ColdCode
	}
	return raw.Code
}

// Addr returns the start address of the code.
func (c *Capture) Addr() uint64 { return c.parts[0].addr }

// refused returns an error if no file with code is of use.
func (c *Capture) refused(string) error {
	if slices.ContainsFunc(c.parts, func(p part) bool { return p.known }) {
		return nil
	}
	return errors.New("it is of no use")
}
