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
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/source"
)

// Kind is the kind of captures of OpenJ9's metadata in the summary and in options.
const Kind = "openj9-captures"

// errNotCapture says that a file is no capture of OpenJ9's metadata.
var errNotCapture = j9meta.ErrNotCapture

// errOtherMachine says that a capture is of another machine than the recording.
var errOtherMachine = errors.New("it is of another machine than the recording")

// An otherMachine is errOtherMachine, with the difference in its text.
type otherMachine struct{ text string }

// Error returns the difference.
func (e otherMachine) Error() string { return e.text }

// Is reports whether target is errOtherMachine.
func (e otherMachine) Is(target error) bool { return target == errOtherMachine }

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

	parts  []part // the warm part, and the cold one if it exists
	method uint64 // the compiled method
	layout j9meta.Layout

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
	captures, _, err := j9meta.FindCaptures(dir)
	return err == nil && len(captures) > 0
}

// OpenCapture reads a capture by the path of either of its files. machine, as in uname(2), and
// order are those of the recording. It fails if the capture is unreadable or of another machine;
// the error names the file.
func OpenCapture(path, machine string, order binary.ByteOrder) (*Capture, error) {
	raw, err := readCapture(path, machine)
	if err != nil {
		return nil, err
	}
	fail := func(format string, args ...any) (*Capture, error) {
		return nil, fmt.Errorf("%s: %w", strings.Trim(strconv.Quote(raw.Path), `"`), fmt.Errorf(format, args...))
	}
	l := raw.Layout
	if l.Order != order {
		return fail("%w", otherMachine{fmt.Sprintf("it is of a machine of another byte order (%s) than the recording", byteOrderName(l.Order))})
	}
	if m := source.MachineOf(machine, uint8(l.PointerSize)); m != elf.EM_NONE && m != l.Machine {
		return fail("%w", otherMachine{fmt.Sprintf("it is of a machine %s with pointers of %d bytes, and the recording of %s", cmp.Or(l.MachineName(), l.Machine.String()), l.PointerSize, machine)})
	}
	warm, cold, err := raw.Parts()
	if err != nil {
		return fail("%w", err)
	}
	c := &Capture{Path: raw.Path, PID: raw.PID, Time: raw.Time, HasTime: raw.HasTime, Mode: uint32(raw.Mode), layout: l, method: raw.RAMMethod()}
	c.Size = int64(len(raw.Metadata) + len(raw.Code) + len(raw.ColdCode))
	if st, err := sys.Stat(raw.JSONPath); err == nil {
		c.Size += st.Size()
	}
	c.part(warm, false, raw.Code, raw.CodePath)
	if cold != (j9meta.CodePart{}) {
		c.part(cold, true, raw.ColdCode, raw.ColdCodePath)
	} else if raw.ColdCodePath != "" {
		c.problem(-1, "it names code of a cold part, and has none")
	}
	c.CodeErrors = raw.CodeErrors
	for _, p := range c.parts {
		if p.addr < source.MinCode || p.addr > source.MaxCodeAddr-p.size {
			return fail("its code would be at %#x, outside of user space", p.addr)
		}
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

// byteOrderName returns the name of a byte order in captures.
func byteOrderName(order binary.ByteOrder) string {
	if order == binary.BigEndian {
		return "big"
	}
	return "little"
}

// readCapture reads a capture. machine is used if the capture has none.
func readCapture(path, machine string) (*j9meta.Capture, error) {
	raw, err := j9meta.ReadCapture(path)
	if err != nil {
		return nil, err
	}
	if raw.Layout.Machine == elf.EM_NONE {
		raw.Layout.Machine = source.MachineOf(machine, uint8(raw.Layout.PointerSize))
	}
	return raw, nil
}

// part adds a part. It drops code of the wrong size.
func (c *Capture) part(at j9meta.CodePart, cold bool, code []byte, codePath string) {
	p := part{addr: at.Start, size: at.End - at.Start, cold: cold}
	switch {
	case codePath == "":
	case uint64(len(code)) != p.size:
		c.problem(-1, "the code in %q has %d bytes, and the metadata says that there are %d; it is left out", codePath, len(code), p.size)
	default:
		p.known = true
	}
	c.parts = append(c.parts, p)
}

func (c *Capture) problem(off int64, format string, args ...any) {
	c.Problems = append(c.Problems, source.Problem{Offset: off, Text: fmt.Sprintf(format, args...)})
}

// Parts calls f with the address range of each part of the code.
func (c *Capture) Parts(f func(lo, hi uint64)) {
	for _, p := range c.parts {
		f(p.addr, p.addr+p.size)
	}
}

// Addr returns the start address of the code.
func (c *Capture) Addr() uint64 { return c.parts[0].addr }

// same reports whether two captures are of one body.
func (c *Capture) same(o *Capture) bool {
	if len(c.parts) != len(o.parts) || c.method != o.method {
		return false
	}
	for i := range c.parts {
		if c.parts[i].addr != o.parts[i].addr || c.parts[i].size != o.parts[i].size {
			return false
		}
	}
	return true
}
