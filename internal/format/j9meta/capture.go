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

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Capture is the metadata of one body as it was copied out of a process, from a core dump
// with a debugger, say, into a file X.bin; the file X.json beside it says what a copy cannot:
//
//	key           value
//	base          address of the copy's first byte in the process; required
//	startPC       the body's startPC; required, and checked against the metadata
//	machine       "x86_64", "i386", "aarch64", "arm", "ppc64le", "ppc64", "ppc", "s390x", "s390", "riscv64"
//	pid           process
//	time          when the body was there, in nanoseconds of CLOCK_MONOTONIC; from the start on if it is missing
//	code          file with the bytes of the warm part, from startPC on
//	cold_code     file with the bytes of the cold part, from startColdPC on
//	methods       list of objects, one for each method that the metadata points to:
//	  method      its J9Method*; required
//	  class       its class as class files have it: java/lang/String
//	  name        without its class
//	  signature   (I)V
//	  file        source file; that of the class, with .class, if it is missing
//	  user        true for a method of the user's program
//	  lines       list of pairs [bytecode index, line], indexes growing; a line holds up to the next
//
// Addresses are strings, "0x7f8800001020", or numbers. Other fields are ignored. The size of
// pointers and the byte order are those with which startPC is where the metadata has it. Files are named
// without a directory and lie beside the capture; those with code may be missing. The caller owns a
// Capture.
type Capture struct {
	Path     string // of the metadata
	JSONPath string
	Mode     fs.FileMode // permissions that all its files give

	Metadata []byte
	Base     uint64 // address of Metadata in the process
	StartPC  uint64
	Layout   Layout // without a Machine that the JSON does not name

	PID     uint32 // 0: not known
	Time    uint64 // nanoseconds of CLOCK_MONOTONIC
	HasTime bool

	CodePath, ColdCodePath string  // "": none
	Code, ColdCode         []byte  // of the warm and the cold part
	CodeErrors             []error // why files with code could not be read; they count as none

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

// ReadCapture reads a capture, by the path of either of its files. Errors name the file. The metadata
// is not decoded: see [Capture.Body]. Where only code cannot be read, the capture has none, and
// CodeErrors.
func ReadCapture(path string) (*Capture, error) {
	bin, description, ok := CapturePaths(path)
	if !ok {
		return nil, fmt.Errorf("%q: %w", path, ErrNotCapture)
	}
	c := &Capture{Path: bin, JSONPath: description, Mode: fs.ModePerm}
	text, err := c.read(description, maxCaptureJSON)
	if err != nil {
		return nil, captureError(description, missing(err, "it must describe "+strconv.Quote(filepath.Base(bin))+", base and startPC at least"))
	}
	if c.Metadata, err = c.read(bin, maxCapture); err != nil {
		return nil, captureError(bin, missing(err, "it has the bytes that "+strconv.Quote(filepath.Base(description))+" describes"))
	}
	if n := bytes.Count(text, []byte("{")); n > 1+len(text)/len(`{"method":1}`) { // they would need many times the memory
		return nil, captureError(description, fmt.Errorf("it has %d objects in %d bytes, so methods have no address", n, len(text)))
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
		path := filepath.Join(filepath.Dir(bin), f.name)
		code, err := c.read(path, maxCaptureCode)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = errors.New("there is no such file")
			}
			c.CodeErrors = append(c.CodeErrors, fmt.Errorf("its JSON names %q as %s: %w", f.name, f.key, err))
			continue
		}
		*f.path, *f.code = path, code
	}
	return c, nil
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
	f, err := sys.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
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
