package openj9

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/source"
)

// Kind is the kind of captures of OpenJ9's metadata in the summary and in options.
const Kind = "openj9-captures"

// ErrNotCapture says that a file is no capture of OpenJ9's metadata.
var ErrNotCapture = j9meta.ErrNotCapture

// ErrOtherMachine says that a capture, which may be a good one, is not of the recording's machine.
var ErrOtherMachine = errors.New("it is of another machine than the recording")

// An otherMachine is that error, with what is different.
type otherMachine struct{ text string }

func (e otherMachine) Error() string { return e.text }

func (e otherMachine) Is(target error) bool { return target == ErrOtherMachine }

// A Capture is one capture of OpenJ9's metadata, as far as it is kept between being
// looked at and being read: where the code is, and since when.
type Capture struct {
	Path string // of the metadata
	PID  uint32 // whose it says that it is; 0 for nothing
	Size int64  // of its files in bytes
	Mode uint32 // permissions that all of them give

	// Time is when the code was loaded, in nanoseconds of CLOCK_MONOTONIC, if it says so.
	Time    uint64
	HasTime bool

	// Problems are what is wrong with it. That costs lines and inlined calls, never a name.
	Problems []source.Problem

	// CodeErrors say which files with its code cannot be read. The bytes may come from elsewhere.
	CodeErrors []error

	parts  []part // the warm one, and the cold one if there is one
	method uint64 // that was compiled
	layout j9meta.Layout

	listings []source.Source
}

// A part is a part of a body's code.
type part struct {
	addr, size uint64
	cold       bool
	known      bool // its bytes are in a file of the capture
}

// Identify reports whether a path is of one of the files of a capture, and the other is beside
// it, whatever is in them.
func Identify(_ io.ReaderAt, path string) bool { return j9meta.IsCapturePair(path) }

// HasCaptures reports whether a directory has captures in it.
func HasCaptures(dir string) bool {
	captures, _, err := FindCaptures(dir)
	return err == nil && len(captures) > 0
}

// FindCaptures returns the captures in a directory, and metadata without the JSON that would
// make it one. Code that one of the captures names is none, whatever it is called.
func FindCaptures(dir string) (bins, alone []string, err error) {
	if bins, err = j9meta.FindCaptures(dir); err == nil {
		alone, err = j9meta.FindLoneMetadata(dir)
	}
	if len(alone) > 0 {
		alone = slices.DeleteFunc(j9meta.Named(slices.Concat(bins, alone)), j9meta.IsCapturePair)
	}
	return bins, alone, err
}

// OpenCapture reads a capture, by the path of either of its files, for a recording of a machine
// of a name, as uname(2) has it, and a byte order. It fails where nothing can be read at all, or where it
// is of another machine; the error names the file.
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
	if st, err := os.Stat(raw.JSONPath); err == nil {
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
			return fail("its code would be at %#x, where no program has any", p.addr)
		}
	}
	// What is to be said of it is said here, once, however often it is read.
	r := newBodyReader()
	for i := range c.parts {
		r.read(raw, &c.parts[i])
	}
	for _, l := range r.listings { // all parts have the same
		c.listings = append(c.listings, source.Source{Name: l.File, Size: len(l.Text)})
	}
	for _, p := range r.problems {
		if !slices.Contains(c.Problems, p) {
			c.Problems = append(c.Problems, p)
		}
	}
	return c, nil
}

// byteOrderName is what captures call a byte order.
func byteOrderName(order binary.ByteOrder) string {
	if order == binary.BigEndian {
		return "big"
	}
	return "little"
}

// readCapture reads a capture, whose machine the recording may know.
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

// part adds a part. Code of another size is not that of the part.
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

// Parts calls f for each part of the code, with the addresses that it is from and up to.
func (c *Capture) Parts(f func(lo, hi uint64)) {
	for _, p := range c.parts {
		f(p.addr, p.addr+p.size)
	}
}

// Addr returns where the code begins.
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
