package monolog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// FormatName is what errors call the format.
const FormatName = "Mono log"

const (
	magicHeader = 0x4D505A01 // 01 5a 50 4d
	magicBuffer = 0x4D504C01 // 01 4c 50 4d

	// MinVersion and MaxVersion are the data versions that there are.
	MinVersion = 1
	MaxVersion = 17

	maxHeaderString = 1 << 20 // bytes of args, arch or os: they are what stood on a command line
	maxText         = 1 << 20 // bytes of all names in an event
)

// ErrNotMonoLog says that a file does not begin as a Mono log does.
var ErrNotMonoLog = errors.New("not a log of Mono's profiler: neither the file nor what gzip unpacks of it begins with 01 5a 50 4d")

// A Header is what stands in front of a log. Which of its fields are there
// depends on Major, as it does in Mono's own reader; see the package comment.
type Header struct {
	Major, Minor  uint8  // of the profiler
	Version       uint8  `show:"data_version"`          // of the data: MinVersion to MaxVersion
	PtrSize       uint8  `show:"ptr_size"`              // bytes of a pointer, 4 or 8
	Startup       uint64 `show:"startup_ms,opt,known"`  // milliseconds since the epoch, 0 if not known
	StartupTime   uint64 `show:"startup_time,time,opt"` // from major 3 on: nanoseconds of CLOCK_MONOTONIC
	TimerOverhead uint32 `show:"timer_overhead"`        // nanoseconds
	Flags         uint32 `show:"flags,hex"`             // 0
	PID           uint32 `show:"pid"`                   // of the process, in its own pid namespace; 0 in version 1
	Port          uint16 `show:"port"`                  // on which the profiler took commands, or 0; before version 4 the low half of the document's sysid
	SysID         uint16 `show:"sysid,opt"`             // before major 1, always 0; before version 4 the high half of the document's sysid

	// From major 1 on: the profiler's arguments, Mono's name for the
	// architecture ("x86-64"), and the operating system.
	Args string `show:"args,opt"`
	Arch string `show:"arch,opt"`
	OS   string `show:"os,opt"`

	Size int64 // bytes of the header in the file; set by the reader
}

// readHeader takes the header from the front of the window.
func (r *Reader) readHeader() error {
	h := &r.header
	if !r.fill(8) || binary.LittleEndian.Uint32(r.buf) != magicHeader {
		if r.srcErr != nil && r.srcErr != io.EOF {
			return fmt.Errorf("%s: %w", FormatName, r.srcErr)
		}
		return ErrNotMonoLog
	}
	h.Major, h.Minor, h.Version, h.PtrSize = r.buf[4], r.buf[5], r.buf[6], r.buf[7]
	r.pos = 8
	switch {
	case h.Version < MinVersion || h.Version > MaxVersion:
		return r.headerError("data version", 6, "is %d: versions %d to %d are known; a Mono of the same age has an mprof-report that reads it",
			h.Version, MinVersion, MaxVersion)
	case h.PtrSize != 4 && h.PtrSize != 8:
		return r.headerError("ptrsize", 7, "is %d, expected 4 or 8", h.PtrSize)
	}
	h.Startup = r.u64("startup time")
	if h.Major >= 3 {
		h.StartupTime = r.u64("ns startup time")
	}
	h.TimerOverhead = r.u32("timer overhead")
	at := r.pos
	if h.Flags = r.u32("flags"); h.Flags != 0 && r.err == nil {
		return r.headerError("flags", int64(at), "is %#x, expected 0: other values are unknown", h.Flags)
	}
	h.PID = r.u32("pid")
	h.Port = r.u16("port")
	if h.Major >= 1 {
		h.Args = r.headerString("args")
		h.Arch = r.headerString("arch")
		h.OS = r.headerString("os")
	} else {
		h.SysID = r.u16("sysid")
	}
	if r.err != nil {
		return r.failure()
	}
	h.Size = r.offset()
	return nil
}

func (r *Reader) headerError(field string, off int64, format string, args ...any) error {
	return &wire.Error{Format: FormatName, Record: "header", Field: field, Offset: off, Text: fmt.Sprintf(format, args...)}
}

// headerString reads a length of four bytes, and a string with a NUL, which the length counts.
func (r *Reader) headerString(field string) string {
	off := r.offset()
	n := r.u32(field + " size")
	if r.err != nil {
		return ""
	}
	if n > maxHeaderString {
		r.failAt(off, field+" size", "is %d; the limit is %d bytes", n, maxHeaderString)
		return ""
	}
	return string(bytes.TrimSuffix(r.bytes(field, int(n)), []byte{0}))
}
