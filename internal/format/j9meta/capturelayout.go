package j9meta

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// The layout of a capture: startPC stands at another offset on 32 bits, and its bytes in another order
// on big-endian machines, so a known startPC tells all four apart. Captures have no size of the header:
// where the sections begin tells that.

// A captureMachine is a machine that the JSON can name.
type captureMachine struct {
	names   []string
	machine elf.Machine
	size    int
	order   binary.ByteOrder
}

var captureMachines = []captureMachine{
	{[]string{"x86_64", "x86-64", "amd64"}, elf.EM_X86_64, 8, binary.LittleEndian},
	{[]string{"i386", "i486", "i586", "i686", "x86"}, elf.EM_386, 4, binary.LittleEndian},
	{[]string{"aarch64", "arm64"}, elf.EM_AARCH64, 8, binary.LittleEndian},
	{[]string{"arm", "armv6l", "armv7l"}, elf.EM_ARM, 4, binary.LittleEndian},
	{[]string{"ppc64le"}, elf.EM_PPC64, 8, binary.LittleEndian},
	{[]string{"ppc64"}, elf.EM_PPC64, 8, binary.BigEndian},
	{[]string{"ppc"}, elf.EM_PPC, 4, binary.BigEndian},
	{[]string{"s390x"}, elf.EM_S390, 8, binary.BigEndian},
	{[]string{"s390"}, elf.EM_S390, 4, binary.BigEndian},
	{[]string{"riscv64"}, elf.EM_RISCV, 8, binary.LittleEndian},
}

// MachineName returns the name of a layout's machine as captures have it, "aarch64"; "" where
// they have none.
func (l Layout) MachineName() string {
	for i := range captureMachines {
		m := &captureMachines[i]
		if m.machine == l.Machine && m.size == l.PointerSize && m.order == l.Order {
			return m.names[0]
		}
	}
	return ""
}

// startPCOffset returns where startPC is in the struct: behind five pointers.
func startPCOffset(pointerSize int) int { return 5 * pointerSize }

// layout finds out the layout of the metadata, by the place of startPC; without that, 64 bits and
// little-endian. machine is what the JSON says, or "".
func (c *Capture) layout(machine string) error {
	c.Layout = Layout{PointerSize: 8, Order: binary.LittleEndian}
	fits := slices.Clone(captureMachines)
	if machine != "" {
		fits = slices.DeleteFunc(fits, func(m captureMachine) bool { return !slices.Contains(m.names, strings.ToLower(machine)) })
		if len(fits) == 0 {
			var names []string
			for _, m := range captureMachines {
				names = append(names, m.names[0])
			}
			return fmt.Errorf("machine: %q is unknown; known are %s", machine, strings.Join(names, ", "))
		}
		c.Layout = Layout{PointerSize: fits[0].size, Order: fits[0].order, Machine: fits[0].machine}
	}
	for _, m := range fits {
		if v, ok := pointerAt(c.Metadata, startPCOffset(m.size), m.size, m.order); ok && v == c.StartPC {
			c.Layout.PointerSize, c.Layout.Order = m.size, m.order
			break
		}
	}
	return nil
}

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
	b, err := Decode(c.Metadata, c.Base, c.Layout)
	if err != nil {
		return nil, err
	}
	if b.Header.StartPC != c.StartPC {
		return nil, c.otherStart(b.Header.StartPC)
	}
	return b, nil
}

// Parts returns where the code is: its warm part, and its cold part, which is empty where
// there is none. Only fields in front of the size are looked at, so damage behind them does not
// matter. It fails where the metadata is shorter than these, is not that of startPC, or where a part
// cannot be.
func (c *Capture) Parts() (warm, cold CodePart, err error) {
	size, order := c.Layout.PointerSize, c.Layout.Order
	at := startPCOffset(size)
	var fields [4]uint64 // startPC, endWarmPC, startColdPC, endPC
	for i := range fields {
		var ok bool
		if fields[i], ok = pointerAt(c.Metadata, at+i*size, size, order); !ok {
			return warm, cold, fmt.Errorf("%s: it has %d bytes, and the struct it begins with at least %d", FormatName, len(c.Metadata), HeaderSizes(size)[0])
		}
	}
	if fields[0] != c.StartPC {
		return warm, cold, c.otherStart(fields[0])
	}
	warm = CodePart{fields[0], fields[1]}
	if fields[2] != 0 {
		cold = CodePart{fields[2], fields[3]}
	}
	for _, p := range []struct {
		name string
		at   int
		part CodePart
	}{{"endWarmPC", at + size, warm}, {"endPC", at + 3*size, cold}} {
		if p.part != (CodePart{}) && (p.part.End <= p.part.Start || p.part.End-p.part.Start > maxCaptureCode) {
			return warm, cold, fmt.Errorf("%s: %s at offset %#x is %#x, and the code begins at %#x", FormatName, p.name, p.at, p.part.End, p.part.Start)
		}
	}
	return warm, cold, nil
}

// RAMMethod returns the method that was compiled, or 0 where the metadata is too short to have it.
func (c *Capture) RAMMethod() uint64 {
	m, _ := pointerAt(c.Metadata, 4*c.Layout.PointerSize, c.Layout.PointerSize, c.Layout.Order)
	return m
}

// A CodePart is where a part of a body's code is: addresses from Start up to End.
type CodePart struct{ Start, End uint64 }

func (c *Capture) otherStart(start uint64) error {
	return fmt.Errorf("%s: startPC at offset %#x is %#x, and %q says %#x: they are of different bodies, or of another machine",
		FormatName, startPCOffset(c.Layout.PointerSize), start, c.JSONPath, c.StartPC)
}
