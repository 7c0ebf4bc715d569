package checkdump

import (
	"debug/elf"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/jitdump"
)

// A pendingJ9 is a record of OpenJ9's metadata that waits for its load.
type pendingJ9 struct {
	offset    int64
	addr      uint64
	start     uint64 // of the metadata's code
	warm      uint64 // its size
	cold      uint64 // where the cold code begins, or 0
	coldSize  uint64
	loads     int  // that had come before it
	described bool // all that is known
}

// maxPendingJ9 is how many records may wait for their loads, and for how many loads, as
// readers have it.
const maxPendingJ9 = 64

// openJ9 checks a record of OpenJ9's metadata.
func (c *checker) openJ9(raw *jitdump.Raw) {
	m, err := raw.OpenJ9Metadata()
	if err != nil {
		c.Violation("dump/j9-record", min(verify.FaultAt(err, raw.Offset), raw.Offset+raw.Size()-1), "%v", err)
		return
	}
	if err := m.CheckTables(); err != nil {
		c.Violation("dump/j9-record", min(verify.FaultAt(err, raw.Offset), raw.Offset+raw.Size()-1), "%v", err)
	}
	if n := len(m.Extra); n > 7 || !verify.IsZero(m.Extra) {
		c.Violation("dump/extra-bytes", raw.Offset, "%s has %d bytes after its fields", raw.ID, n)
	}
	if old := c.takeJ9(m.CodeAddr); old != nil {
		c.orphanJ9(old)
	}
	if len(c.j9) == maxPendingJ9 {
		c.orphanJ9(c.j9[0])
		c.j9 = slices.Delete(c.j9, 0, 1)
	}
	p := &pendingJ9{offset: raw.Offset, addr: m.CodeAddr, loads: c.j9Loads}
	c.j9 = append(c.j9, p)
	if size := machinePointer(c.machine); size != 0 && size != int(m.PointerSize) {
		c.Violation("dump/j9-pointers", raw.Offset, "pointers have %d bytes, on %s", m.PointerSize, c.machine)
	}
	body, err := j9meta.Decode(m.Metadata, m.Base, j9meta.Layout{Order: raw.Order, PointerSize: int(m.PointerSize), Machine: c.machine, HeaderSize: int(m.HeaderSize)})
	if err != nil {
		c.Violation("dump/j9-metadata", raw.Offset, "%v", err)
		return
	}
	h := &body.Header
	if h.Flags&(j9meta.IsStub|j9meta.NotInitialized) != 0 {
		return // it describes no code
	}
	p.described, p.start, p.warm = true, h.StartPC, h.EndWarmPC-h.StartPC
	if h.StartColdPC != 0 {
		p.cold, p.coldSize = h.StartColdPC, h.EndPC-h.StartColdPC
	}
}

// machinePointer returns the size of a pointer on the machines that OpenJ9 is for, or 0.
// The number of s390 is that of s390x, too.
func machinePointer(m elf.Machine) int {
	switch m {
	case elf.EM_X86_64, elf.EM_AARCH64, elf.EM_PPC64, elf.EM_RISCV:
		return 8
	case elf.EM_386, elf.EM_ARM, elf.EM_PPC:
		return 4
	}
	return 0
}

// j9Of checks the metadata of a load.
func (c *checker) j9Of(l *jitdump.Load) {
	for len(c.j9) > 0 && c.j9Loads-c.j9[0].loads >= maxPendingJ9 {
		c.orphanJ9(c.j9[0])
		c.j9 = slices.Delete(c.j9, 0, 1)
	}
	c.j9Loads++
	p := c.takeJ9(l.CodeAddr)
	if p == nil || !p.described {
		return
	}
	switch {
	case l.CodeAddr == p.start && l.CodeSize != p.warm:
		c.Violation("dump/j9-code", p.offset, "the load of %s has %d bytes, the metadata's warm code %d", nameOf(l), l.CodeSize, p.warm)
	case l.CodeAddr == p.cold && l.CodeAddr != p.start && l.CodeSize != p.coldSize:
		c.Violation("dump/j9-code", p.offset, "the load of %s has %d bytes, the metadata's cold code %d", nameOf(l), l.CodeSize, p.coldSize)
	case l.CodeAddr != p.start && l.CodeAddr != p.cold && p.cold != 0:
		c.Violation("dump/j9-code", p.offset, "code_addr is %#x, the metadata's code begins at %#x and its cold code at %#x", l.CodeAddr, p.start, p.cold)
	case l.CodeAddr != p.start && l.CodeAddr != p.cold:
		c.Violation("dump/j9-code", p.offset, "code_addr is %#x, the metadata's code begins at %#x", l.CodeAddr, p.start)
	}
}

// takeJ9 returns the record that waits for the load at an address, which it does no more.
func (c *checker) takeJ9(addr uint64) *pendingJ9 {
	i := slices.IndexFunc(c.j9, func(p *pendingJ9) bool { return p.addr == addr })
	if i < 0 {
		return nil
	}
	p := c.j9[i]
	c.j9 = slices.Delete(c.j9, i, i+1)
	return p
}

// orphanJ9 reports a record without its load.
func (c *checker) orphanJ9(p *pendingJ9) {
	c.Violation("dump/j9-orphan", p.offset, "no function is loaded at %#x", p.addr)
}
