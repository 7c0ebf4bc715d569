package checkdump

import (
	"slices"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/jitdump"
)

// A pendingJ9 is a record of OpenJ9's metadata that waits for its load.
type pendingJ9 struct {
	offset int64
	addr   uint64
	loads  int // that had come before it
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
	c.j9 = append(c.j9, &pendingJ9{raw.Offset, m.CodeAddr, c.j9Loads})
}

// j9Of takes the metadata of a load, which the engine decodes with the function: see fixed.
func (c *checker) j9Of(l *jitdump.Load) {
	for len(c.j9) > 0 && c.j9Loads-c.j9[0].loads >= maxPendingJ9 {
		c.orphanJ9(c.j9[0])
		c.j9 = slices.Delete(c.j9, 0, 1)
	}
	c.j9Loads++
	c.takeJ9(l.CodeAddr)
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
