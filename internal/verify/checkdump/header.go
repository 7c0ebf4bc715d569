package checkdump

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"strings"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/jitted"
	"github.com/jitinject/jitinject/jitdump"
)

// checkHeader checks the file header, and mends in c.src what would keep the reader
// from the records. ok is false if there is no way to them.
func (c *checker) checkHeader(base string) (ok bool, err error) {
	c.Result.Holds = "nothing"
	var b [fileHeaderSize]byte
	n, err := c.src.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return false, verify.PlainError(err)
	}
	if n < fileHeaderSize {
		c.Violation("dump/header-cut", 0, "the file ends after %d bytes of its header", n)
		return false, nil
	}
	order := binary.ByteOrder(binary.LittleEndian)
	switch {
	case binary.LittleEndian.Uint32(b[:]) == 0x4A695444:
	case binary.BigEndian.Uint32(b[:]) == 0x4A695444:
		order = binary.BigEndian
	default:
		c.Violation("dump/magic", 0, "the file begins with % x", b[:4])
		return false, nil
	}
	mended := b
	switch v := order.Uint32(b[4:]); {
	case v > 2:
		c.Violation("dump/version", 4, "the version is %d", v)
		order.PutUint32(mended[4:], 1)
	case v != 1:
		c.Violation("dump/version-not-1", 4, "the version is %d", v)
	}
	switch size := order.Uint32(b[8:]); {
	case size < fileHeaderSize || size > 1<<20 || int64(size) > c.size:
		c.Violation("dump/header-size", 8, "the header says that it has %d bytes; the file has %d", size, c.size)
		order.PutUint32(mended[8:], fileHeaderSize)
	case size > fileHeaderSize:
		c.Violation("dump/header-long", 8, "the header has %d bytes, %d more than its fields need", size, size-fileHeaderSize)
	}
	machine := order.Uint32(b[12:])
	if c.machine = elf.Machine(machine); machine == 0 || machine > 0xffff || !hasName(c.machine) {
		c.Violation("dump/machine", 12, "elf_mach is %d, which is no machine", machine)
	}
	if pad := order.Uint32(b[16:]); pad != 0 {
		c.Violation("dump/pad", 16, "pad1 is %#x", pad)
	}
	pid := order.Uint32(b[20:])
	if pid == 0 {
		c.Violation("dump/pid", 20, "the process is number 0")
	} else if n, ok := jitted.NumberOfDump(base); ok && n != pid {
		c.Violation("dump/pid-name", 20, "the process is number %d, the file's name has %d", pid, n)
	}
	flags := order.Uint64(b[32:])
	switch flags {
	case 0:
	case 1:
		c.ticks = true
		c.Violation("dump/tsc", 32, "times are counts of the processor")
	default: // then bit 0 means nothing either
		c.Violation("dump/flags", 32, "flags are %#x", flags)
	}
	c.src = &mendedFile{c.src, mended}
	c.header = &jitdump.Header{Order: order, Machine: machine, PID: pid, Timestamp: order.Uint64(b[24:])}
	return true, nil
}

// hasName reports whether debug/elf has a name for a machine. For others it prints
// numbers, or the difference to one that has a name.
func hasName(m elf.Machine) bool {
	name := m.String()
	return strings.HasPrefix(name, "EM_") && !strings.Contains(name, "+")
}

// A mendedFile is a dump with a corrected header.
type mendedFile struct {
	io.ReaderAt
	header [fileHeaderSize]byte
}

// ReadAt implements io.ReaderAt.
func (m *mendedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.ReaderAt.ReadAt(p, off)
	if off >= 0 && off < fileHeaderSize {
		copy(p[:n], m.header[off:])
	}
	return n, err
}
