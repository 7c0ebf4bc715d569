package j9meta

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Capture is the metadata of one body as it was copied out of a process, from a core dump
// with a debugger, say, into a file X.bin; the file X.json beside it, a [Description], says what a
// copy cannot. The caller owns a Capture.
type Capture struct {
	Description
	Path     string // of the metadata
	JSONPath string
	Mode     fs.FileMode // permissions that all its files give
	Size     int64       // of all its files, in bytes

	Metadata []byte
	// Layout has the size of pointers and the byte order with which startPC is where the metadata has
	// it, or those of 64-bit little-endian machines. It has no Machine.
	Layout Layout

	Code, ColdCode []byte  // of the warm and the cold part; nil: unknown
	CodeErrors     []error // why files with code could not be read
}

// A Description is X.json. Other fields are ignored. Files are named without a directory and lie
// beside the capture; those with code may be missing.
type Description struct {
	Base         Address         `json:"base"`                // of the copy's first byte in the process; required
	StartPC      Address         `json:"startPC"`             // of the body; required, and checked against the metadata
	Machine      string          `json:"machine,omitempty"`   // as uname -m says
	PID          uint32          `json:"pid,omitempty"`       // the process
	Time         *uint64         `json:"time,omitempty"`      // when the body was there, in nanoseconds of CLOCK_MONOTONIC
	CodeFile     string          `json:"code,omitempty"`      // file with the bytes of the warm part, from startPC on
	ColdCodeFile string          `json:"cold_code,omitempty"` // file with the bytes of the cold part, from startColdPC on
	Methods      []CaptureMethod `json:"methods,omitempty"`   // those that the metadata points to
}

// A CaptureMethod says what the metadata's pointer to a method means.
type CaptureMethod struct {
	Method    Address     `json:"method"`    // J9Method*
	Class     string      `json:"class"`     // as class files have it: java/lang/String
	Name      string      `json:"name"`      // without its class
	Signature string      `json:"signature"` // (I)V
	File      string      `json:"file"`      // source file; "": that of the class, with .class
	User      bool        `json:"user"`      // of the user's program
	Lines     [][2]uint32 `json:"lines"`     // bytecode index and line, which holds up to the next index
}

// An Address is a number, or a string with one in hexadecimal.
type Address uint64

// UnmarshalJSON reads an address.
func (a *Address) UnmarshalJSON(text []byte) error {
	s := strings.Trim(string(text), `"`)
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return fmt.Errorf("%q is no address; they are strings like \"0x7f8800001020\"", s)
	}
	*a = Address(v)
	return nil
}

// MarshalJSON writes an address in hexadecimal.
func (a Address) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `"%#x"`, uint64(a)), nil }

// ErrNotCapture says that a file is no capture: it is not called X.bin or X.json, or there is
// no other beside it.
var ErrNotCapture = errors.New("it is no capture of OpenJ9's metadata, which is a file X.bin with X.json beside it")

// Limits of what is read. The size of metadata is a signed integer of 32 bits; real ones have some
// kilobytes. A code cache has at most 256 MiB.
const (
	maxCapture     = 64 << 20
	maxCaptureCode = 256 << 20
)

// capturePaths returns the two files of a capture of which one is named; ok is false
// for names that no capture has. It does not look at files.
func capturePaths(path string) (bin, description string, ok bool) {
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	return stem + ".bin", stem + ".json", path == stem+".bin" || path == stem+".json"
}

// IsCapturePair reports whether a path is of one of two files that are called as those of a capture
// are. What is in them is not looked at: one that is damaged is a pair, too.
func IsCapturePair(path string) bool {
	bin, description, ok := capturePaths(path)
	return ok && isFile(bin) && isFile(description)
}

// isFile reports whether there is something that is no directory: what is a link, or cannot be
// examined or opened, is for those to tell who read it.
func isFile(path string) bool {
	st, err := sys.Lstat(path)
	if err != nil {
		return !safefile.IsAbsent(err)
	}
	return !st.IsDir()
}

// FindCaptures returns the captures in a directory, not in those within it, by the paths of
// their metadata, sorted: all X.bin with X.json beside them. Whether they can be read is another
// question.
func FindCaptures(dir string) (bins []string, err error) {
	entries, err := sys.ReadDir(dir)
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); strings.HasSuffix(path, ".bin") && IsCapturePair(path) {
			bins = append(bins, path)
		}
	}
	return bins, err
}

// ReadCapture reads a capture, by the path of either of its files. Errors name the file. The metadata
// is not decoded: see [Capture.Body]. Where only code cannot be read, the capture has none, and
// CodeErrors.
func ReadCapture(path string) (*Capture, error) {
	return ReadCaptureWith(path, func(string) error { return nil })
}

// ReadCaptureWith is ReadCapture, but a file with code is only read if refused returns nil for its path.
// Otherwise that is one of CodeErrors.
func ReadCaptureWith(path string, refused func(path string) error) (*Capture, error) {
	bin, description, ok := capturePaths(path)
	if !ok {
		return nil, fmt.Errorf("%q: %w", path, ErrNotCapture)
	}
	fail := func(path string, err error) (*Capture, error) {
		return nil, fmt.Errorf("%s: %w", strings.Trim(strconv.Quote(path), `"`), err)
	}
	c := &Capture{Path: bin, JSONPath: description, Mode: fs.ModePerm}
	text, err := c.read(description, maxCapture)
	if err != nil {
		return fail(description, err)
	}
	if c.Metadata, err = c.read(bin, maxCapture); err != nil {
		return fail(bin, err)
	}
	if n := bytes.Count(text, []byte("{")); n > 1+len(text)/len(`{"method":1}`) { // they would need many times the memory
		return fail(description, fmt.Errorf("it has %d objects in %d bytes, so methods have no address", n, len(text)))
	}
	if err := c.describe(text); err != nil {
		return fail(description, err)
	}
	for _, f := range []struct {
		key, name string
		code      *[]byte
	}{{"code", c.CodeFile, &c.Code}, {"cold_code", c.ColdCodeFile, &c.ColdCode}} {
		if f.name == "" {
			continue
		}
		if f.name != filepath.Base(f.name) || f.name == "." || f.name == ".." {
			return fail(description, fmt.Errorf("%s: %q is not the name of a file beside the capture; name it without a directory", f.key, f.name))
		}
		file := filepath.Join(filepath.Dir(bin), f.name)
		if err = refused(file); err == nil {
			*f.code, err = c.read(file, maxCaptureCode)
		}
		if err != nil {
			c.CodeErrors = append(c.CodeErrors, fmt.Errorf("its JSON names %q as %s: %w", f.name, f.key, err))
		}
	}
	return c, nil
}

// describe takes in what the JSON says.
func (c *Capture) describe(text []byte) error {
	err := json.Unmarshal(text, &c.Description)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is no JSON: line %d: %w", 1+bytes.Count(text[:min(syntax.Offset, int64(len(text)))], []byte("\n")), err)
	case err != nil:
		return err
	case c.Base == 0:
		return errors.New(`it has no "base", the address of the metadata in the process`)
	case c.StartPC == 0:
		return errors.New(`it has no "startPC", the address of the body's first instruction`)
	}
	for i, m := range c.Methods {
		if strings.Contains(m.Class+m.Name+m.Signature+m.File, "\x00") {
			return fmt.Errorf("methods[%d] has a NUL in a name", i)
		}
	}
	c.Layout = Layout{PointerSize: 8, Order: binary.LittleEndian}
	for _, size := range []int{8, 4} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if v, ok := pointerAt(c.Metadata, startPCOffset(size), size, order); ok && v == uint64(c.StartPC) {
				c.Layout = Layout{PointerSize: size, Order: order}
				return nil
			}
		}
	}
	return nil
}

// read reads a file of a capture. A link in the last component of its path is not
// followed, and nothing but a regular file is opened: who makes a capture could name what
// only the reader of it may read.
func (c *Capture) read(path string, most int64) ([]byte, error) {
	f, err := safefile.Open(path)
	if err != nil {
		return nil, safefile.PlainError(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > most {
		return nil, fmt.Errorf("it has %d bytes; files of captures have at most %d", st.Size(), most)
	}
	// Holes cost their author nothing. File systems may compress.
	const factor, few = 8, 1 << 20
	if u, ok := st.Sys().(*syscall.Stat_t); ok && st.Size() > few && st.Size()/factor/512 > u.Blocks {
		return nil, fmt.Errorf("it has %d bytes, and most of them are holes", st.Size())
	}
	c.Mode &= st.Mode().Perm()
	data := make([]byte, st.Size())
	n, err := io.ReadFull(f, data)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil // it has become shorter
	}
	c.Size += int64(n)
	return data[:n], err
}

// startPCOffset returns where startPC is in the struct: behind five pointers.
func startPCOffset(pointerSize int) int { return 5 * pointerSize }

// pointerAt reads a pointer.
func pointerAt(b []byte, offset, size int, order binary.ByteOrder) (uint64, bool) {
	if offset+size > len(b) {
		return 0, false
	}
	if size == 4 {
		return uint64(order.Uint32(b[offset:])), true
	}
	return order.Uint64(b[offset:]), true
}

// Body decodes the metadata. It fails where that cannot be decoded, as Decode does, and where it is
// not that of startPC.
func (c *Capture) Body() (*Body, error) {
	b, err := Decode(c.Metadata, uint64(c.Base), c.Layout)
	if err != nil {
		return nil, err
	}
	return b, c.checkStart(b.Header.StartPC)
}

// Parts returns where the code is: its warm part, and its cold part if there is one. Only fields in
// front of the size are looked at, so damage behind them does not matter. It fails where the
// metadata is shorter than these, is not that of startPC, or where a part cannot be.
func (c *Capture) Parts() (parts []CodePart, err error) {
	size, order := c.Layout.PointerSize, c.Layout.Order
	at := startPCOffset(size)
	var fields [4]uint64 // startPC, endWarmPC, startColdPC, endPC
	for i := range fields {
		var ok bool
		if fields[i], ok = pointerAt(c.Metadata, at+i*size, size, order); !ok {
			return nil, fmt.Errorf("%s: it has %d bytes, and the struct it begins with at least %d", FormatName, len(c.Metadata), HeaderSizes(size)[0])
		}
	}
	if err := c.checkStart(fields[0]); err != nil {
		return nil, err
	}
	parts = []CodePart{{fields[0], fields[1]}, {fields[2], fields[3]}}
	if fields[2] == 0 {
		parts = parts[:1]
	}
	for i, p := range parts {
		if p.End <= p.Start || p.End-p.Start > maxCaptureCode {
			return nil, fmt.Errorf("%s: %s at offset %#x is %#x, and the code begins at %#x", FormatName, []string{"endWarmPC", "endPC"}[i], at+(1+2*i)*size, p.End, p.Start)
		}
	}
	return parts, nil
}

// RAMMethod returns the method that was compiled, or 0 where the metadata is too short to have it.
func (c *Capture) RAMMethod() uint64 {
	m, _ := pointerAt(c.Metadata, 4*c.Layout.PointerSize, c.Layout.PointerSize, c.Layout.Order)
	return m
}

// A CodePart is where a part of a body's code is: addresses from Start up to End.
type CodePart struct{ Start, End uint64 }

// checkStart checks that the metadata is that of startPC.
func (c *Capture) checkStart(start uint64) error {
	if start == uint64(c.StartPC) {
		return nil
	}
	return fmt.Errorf("%s: startPC at offset %#x is %#x, and %q says %#x: they are of different bodies",
		FormatName, startPCOffset(c.Layout.PointerSize), start, c.JSONPath, uint64(c.StartPC))
}
