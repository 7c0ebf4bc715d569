package checkdump

import (
	"bytes"
	"debug/elf"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkj9"
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
	loads     int    // that had come before it
	described bool   // all that is known
	name      string // of the compiled method, or ""
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
	l := j9meta.Layout{Order: raw.Order, PointerSize: int(m.PointerSize), Machine: c.machine, HeaderSize: int(m.HeaderSize)}
	body := checkj9.Decode(c.Reporter, m.Metadata, m.MetadataOffset(), m.Base, l)
	if body == nil {
		return
	}
	check := &checkj9.Metadata{Reporter: c.Reporter, At: m.MetadataOffset(), Body: body}
	if !check.Check() {
		return
	}
	methods := make([]checkj9.Method, len(m.Methods))
	names := make(map[string]string)
	for i := range m.Methods {
		methods[i] = j9MethodOf(raw, i, &m.Methods[i], names)
		if flags := m.Methods[i].Flags &^ jitdump.UserFunction; flags != 0 {
			c.Violation("dump/j9-flags", methods[i].At, "method %d has flags %#x", i, uint32(m.Methods[i].Flags))
		}
	}
	check.CheckMethods(methods)
	if i := slices.IndexFunc(methods, func(m checkj9.Method) bool { return m.Address == body.Header.RAMMethod }); i >= 0 {
		p.name = methods[i].LoadName()
	}
	if h := &body.Header; check.Code.Known {
		p.described, p.start, p.warm = true, h.StartPC, check.Code.Warm
		if h.StartColdPC != 0 {
			p.cold, p.coldSize = h.StartColdPC, h.EndPC-h.StartColdPC
		}
	}
}

// Sizes in a record of OpenJ9's metadata, in bytes.
const (
	j9RecordHead = 48
	j9MethodSize = 32
)

// j9MethodOf returns the i-th method of a record. Any number of them may have the same strings, of
// 65535 bytes: each is in memory once, in names.
func j9MethodOf(raw *jitdump.Raw, i int, m *jitdump.JavaMethod, names map[string]string) checkj9.Method {
	text := func(b []byte) string {
		s, ok := names[string(b)]
		if !ok {
			s = string(b)
			names[s] = s
		}
		return s
	}
	method := checkj9.Method{
		At:      raw.Offset + prefixSize + j9RecordHead + int64(i)*j9MethodSize,
		Address: m.Method, Class: text(m.Class), Name: text(m.Name), Signature: text(m.Signature), File: text(m.File),
		Lines: make([]checkj9.Line, len(m.Lines)),
	}
	for j, l := range m.Lines {
		method.Lines[j] = checkj9.Line{Index: l.ByteCodeIndex, Line: l.Line}
	}
	return method
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
	if p.name != "" && !bytes.Equal([]byte(p.name), l.Name) {
		c.Violation("dump/j9-name", p.offset, "the compiled method is %s, the load %s", verify.Quoted(p.name), verify.Quoted(l.Name))
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
