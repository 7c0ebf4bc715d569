package j9meta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A Capture is the metadata of one body as it was copied out of a process, from a core dump
// with a debugger, say, into a file X.bin; the file X.json beside it says what a copy cannot:
//
//	key           value
//	base          address of the copy's first byte in the process; required
//	startPC       the body's startPC; required, and checked against the metadata
//	epoch         bytes of struct J9JITExceptionTable: 216, 224, 232, on 32 bits 116, 120, 124
//	pointer_size  4 or 8
//	byte_order    "little" or "big"
//	machine       "x86_64", "i386", "aarch64", "arm", "ppc64le", "ppc64", "s390x", "s390", "riscv64"
//	pid           process
//	time          when the body was there, in nanoseconds of CLOCK_MONOTONIC; from the start on if it is missing
//	code          file with the bytes of the warm part, from startPC on
//	cold_code     file with the bytes of the cold part, from startColdPC on
//	methods       list of objects, one for each method that the metadata points to:
//	  method      its J9Method*; required
//	  class       its class as class files have it: java/lang/String
//	  name        without its class
//	  signature   (I)V
//	  file        source file
//	  user        true for a method of the user's program
//	  lines       list of pairs [bytecode index, line], indexes growing; a line holds up to the next
//
// Addresses are strings, "0x7f8800001020", or numbers. What else there is, is passed over. Files are
// named without a directory and lie beside the capture. A Capture is of the caller alone.
type Capture struct {
	Path     string // of the metadata
	JSONPath string
	Mode     fs.FileMode // permissions that all its files give

	Metadata []byte
	Base     uint64 // address of Metadata in the process
	StartPC  uint64
	Layout   Layout // what was not said and could not be found out is zero

	PID     uint32 // 0: not known
	Time    uint64 // nanoseconds of CLOCK_MONOTONIC
	HasTime bool

	CodePath, ColdCodePath string // "": none
	Code, ColdCode         []byte // of the warm and the cold part

	Methods []CaptureMethod
}

// A CaptureMethod says what the metadata's pointer to a method means.
type CaptureMethod struct {
	Method                       uint64 // J9Method*
	Class, Name, Signature, File string
	User                         bool // of the user's program
	Lines                        []CaptureLine
}

// A CaptureLine is the line of the code from a bytecode index on.
type CaptureLine struct{ ByteCodeIndex, Line uint32 }

// ErrNotCapture says that a file is no capture: it is not called X.bin or X.json, or there is
// no other beside it.
var ErrNotCapture = errors.New("it is no capture of OpenJ9's metadata, which is a file X.bin with X.json beside it")

// Limits of what is read. The size of metadata is a signed integer of 32 bits; real ones have some
// kilobytes. A code cache has at most 256 MiB.
const (
	maxCapture     = 64 << 20
	maxCaptureJSON = 64 << 20
	maxCaptureCode = 256 << 20
	maxCaptureName = 1<<16 - 1
)

// CapturePaths returns the two files of a capture of which one is named; ok is false
// for names that no capture has. It does not look at files.
func CapturePaths(path string) (bin, description string, ok bool) {
	if stem, ok := strings.CutSuffix(path, ".bin"); ok {
		return path, stem + ".json", true
	}
	if stem, ok := strings.CutSuffix(path, ".json"); ok {
		return stem + ".bin", path, true
	}
	return "", "", false
}

// IsCapture reports whether a path is of one of the two files of a capture and the other
// is beside it. A description is looked into: it says base and startPC.
func IsCapture(path string) bool {
	bin, description, ok := CapturePaths(path)
	if !ok {
		return false
	}
	if st, err := os.Lstat(bin); err != nil || !st.Mode().IsRegular() {
		return false
	}
	text, err := new(Capture).read(description, maxCaptureJSON)
	if err != nil {
		return false
	}
	var d struct {
		Base    json.RawMessage `json:"base"`
		StartPC json.RawMessage `json:"startPC"`
	}
	return json.Unmarshal(text, &d) == nil && d.Base != nil && d.StartPC != nil
}

// FindCaptures returns the captures in a directory, not in those within it, by the paths of
// their metadata, sorted.
func FindCaptures(dir string) (bins []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); strings.HasSuffix(path, ".bin") && IsCapture(path) {
			bins = append(bins, path)
		}
	}
	return bins, nil
}

// ReadCapture reads a capture, by the path of either of its files. Errors name the file. The metadata
// is not decoded: see [Capture.Body].
func ReadCapture(path string) (*Capture, error) {
	bin, description, ok := CapturePaths(path)
	if !ok {
		return nil, fmt.Errorf("%q: %w", path, ErrNotCapture)
	}
	c := &Capture{Path: bin, JSONPath: description, Mode: fs.ModePerm}
	text, err := c.read(description, maxCaptureJSON)
	if err != nil {
		return nil, captureError(description, missing(err, "it says of "+strconv.Quote(filepath.Base(bin))+" what the metadata itself cannot, base and startPC at least"))
	}
	if c.Metadata, err = c.read(bin, maxCapture); err != nil {
		return nil, captureError(bin, missing(err, "it has the bytes that "+strconv.Quote(filepath.Base(description))+" describes"))
	}
	var d captureJSON
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, captureError(description, jsonError(text, err))
	}
	if err := c.take(&d); err != nil {
		return nil, captureError(description, err)
	}
	for _, f := range []struct {
		key, name string
		path      *string
		code      *[]byte
	}{{"code", d.Code, &c.CodePath, &c.Code}, {"cold_code", d.ColdCode, &c.ColdCodePath, &c.ColdCode}} {
		if f.name == "" {
			continue
		}
		if f.name != filepath.Base(f.name) || f.name == "." || f.name == ".." {
			return nil, captureError(description, fmt.Errorf("%s: %q is not the name of a file beside the capture; name it without a directory", f.key, f.name))
		}
		*f.path = filepath.Join(filepath.Dir(bin), f.name)
		if *f.code, err = c.read(*f.path, maxCaptureCode); err != nil {
			return nil, captureError(*f.path, fmt.Errorf("%w; %q names it as %s", missing(err, "it has code of the capture"), filepath.Base(description), f.key))
		}
	}
	return c, nil
}

// captureJSON is what is in the JSON.
type captureJSON struct {
	Base        *address            `json:"base"`
	StartPC     *address            `json:"startPC"`
	Epoch       int                 `json:"epoch,omitempty"`
	PointerSize int                 `json:"pointer_size,omitempty"`
	ByteOrder   string              `json:"byte_order,omitempty"`
	Machine     string              `json:"machine,omitempty"`
	PID         uint32              `json:"pid,omitempty"`
	Time        *uint64             `json:"time,omitempty"`
	Code        string              `json:"code,omitempty"`
	ColdCode    string              `json:"cold_code,omitempty"`
	Methods     []captureMethodJSON `json:"methods,omitempty"`
}

type captureMethodJSON struct {
	Method    *address    `json:"method"`
	Class     string      `json:"class,omitempty"`
	Name      string      `json:"name,omitempty"`
	Signature string      `json:"signature,omitempty"`
	File      string      `json:"file,omitempty"`
	User      bool        `json:"user,omitempty"`
	Lines     [][2]uint32 `json:"lines,omitempty"`
}

// take takes in what the JSON says.
func (c *Capture) take(d *captureJSON) error {
	switch {
	case d.Base == nil:
		return errors.New(`it has no "base", the address of the metadata in the process`)
	case d.StartPC == nil:
		return errors.New(`it has no "startPC", the address of the body's first instruction`)
	}
	c.Base, c.StartPC = uint64(*d.Base), uint64(*d.StartPC)
	c.PID = d.PID
	if d.Time != nil {
		c.Time, c.HasTime = *d.Time, true
	}
	if err := c.layout(d); err != nil {
		return err
	}
	seen := make(map[uint64]int, len(d.Methods))
	c.Methods = make([]CaptureMethod, 0, len(d.Methods))
	for i := range d.Methods {
		m := &d.Methods[i]
		if m.Method == nil {
			return fmt.Errorf(`methods[%d] has no "method", the address of its J9Method`, i)
		}
		if first, ok := seen[uint64(*m.Method)]; ok {
			return fmt.Errorf("methods[%d] is method %#x, as methods[%d] is; a method is described once", i, uint64(*m.Method), first)
		}
		seen[uint64(*m.Method)] = i
		for _, f := range []struct{ key, text string }{{"class", m.Class}, {"name", m.Name}, {"signature", m.Signature}, {"file", m.File}} {
			if len(f.text) > maxCaptureName || strings.ContainsRune(f.text, 0) {
				return fmt.Errorf("methods[%d].%s is no name: it has %d bytes, or a NUL; names of class files have up to %d", i, f.key, len(f.text), maxCaptureName)
			}
		}
		method := CaptureMethod{Method: uint64(*m.Method), Class: m.Class, Name: m.Name, Signature: m.Signature, File: m.File, User: m.User, Lines: make([]CaptureLine, len(m.Lines))}
		for j, l := range m.Lines {
			if j > 0 && l[0] <= m.Lines[j-1][0] {
				return fmt.Errorf("methods[%d].lines[%d]: bytecode index %d stands behind %d; indexes grow", i, j, l[0], m.Lines[j-1][0])
			}
			method.Lines[j] = CaptureLine{l[0], l[1]}
		}
		c.Methods = append(c.Methods, method)
	}
	return nil
}

// An address is a number, or a string with one in hexadecimal.
type address uint64

// UnmarshalJSON reads an address.
func (a *address) UnmarshalJSON(text []byte) error {
	s := string(text)
	if text[0] == '"' {
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
	}
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return fmt.Errorf("%q is no address; they are strings like \"0x7f8800001020\"", s)
	}
	*a = address(v)
	return nil
}

// MarshalJSON writes an address.
func (a address) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `"%#x"`, uint64(a)), nil }

// jsonError says where in a text the error is.
func jsonError(text []byte, err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is no JSON: line %d: %w", lineAt(text, syntax.Offset), err)
	case errors.As(err, &typ) && typ.Field != "":
		return fmt.Errorf("line %d: %s is a JSON %s, and should be %s", lineAt(text, typ.Offset), strconv.Quote(typ.Field), typ.Value, jsonKind(typ))
	case errors.As(err, &typ):
		return fmt.Errorf("it is a JSON %s, and should be an object with base and startPC", typ.Value)
	}
	return err
}

func jsonKind(e *json.UnmarshalTypeError) string {
	switch k := e.Type.Kind().String(); k {
	case "slice", "array":
		return "a list"
	case "struct":
		return "an object"
	case "bool":
		return "true or false"
	case "string":
		return "a string"
	case "uint32", "uint64":
		return "a whole number from 0 on, of " + strings.TrimPrefix(k, "uint") + " bits"
	}
	return "a whole number"
}

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
}

// missing says of a file that is not there what it would be for.
func missing(err error, use string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no such file; %s", use)
	}
	return err
}

// captureError is an error about one of a capture's files.
func captureError(path string, err error) error {
	return fmt.Errorf("%s: %w", strings.Trim(strconv.Quote(path), `"`), err)
}

// read reads a file of a capture. A link in the last component of its path is not
// followed, and nothing but a regular file is opened: who makes a capture could name what
// only the reader of it may read.
func (c *Capture) read(path string, most int64) ([]byte, error) {
	// O_NONBLOCK: opening a FIFO must not wait for someone to write to it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, errors.New("it is a symbolic link, which is not followed: anyone could have put it there")
	}
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err // without its name, which is said already
		}
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case st.Size() > most:
		return nil, fmt.Errorf("it has %d bytes; files of captures have at most %d", st.Size(), most)
	}
	c.Mode &= st.Mode().Perm()
	data := make([]byte, st.Size())
	n, err := io.ReadFull(f, data)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil // it has become shorter
	}
	return data[:n], err
}
