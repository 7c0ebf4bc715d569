package plan

import (
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
)

// Unwind tables get addresses that are free in all processes of a dump.
//
// libunwind (perf up to 6.12) reads the tables of an object from the memory of the process. It
// does so through the mappings of the recording, at the address in the object's headers, counted
// from the object's first mapping. Jitted functions lie close together, with no space for tables
// between them. But an object may be mapped in several pieces. So its tables get free addresses,
// and a mapping of their own. libdw (perf 7) finds them in the file.

// tableRoom returns how many bytes are reserved for the tables of a function of size bytes, for
// which its producer sent some. That is more than they need.
func tableRoom(size, sent uint64) uint64 { return (1<<10 + 4*size + 2*sent + 7) &^ 7 }

// blankRoom bounds the size of unwind tables without an entry, in bytes.
const blankRoom = 64

// maxBlankGap bounds the distance from code to its blank table, in bytes.
const maxBlankGap = 1 << 20

// placeTables reserves an address near the code for the unwind tables of a mapping's object. An
// object has its tables at one address only. If its code is at another address as well, it adds
// another object for that.
func (p *Planner) placeTables(m *model.Mapping, e *jitcode.Event, d *model.Dump, waiting uint64) {
	o := &p.Objects[m.Object]
	switch {
	case p.Bundling: // Bundle does it later
		return
	case !p.rec.CopiesStacks():
		if e.Tables > 0 {
			m.Len = p.dumps[d.Number].neighbours.withTables(e)
		}
		return
	case o.Placement != nil && o.Placement.CodeAt == m.Addr: // in another process
		m.Tables = o.Placement.TablesAt
		return
	case o.Placement != nil:
		copied := *o
		copied.IsRepeated = p.names.isRepeated(&copied, p.Objects)
		m.Object = int32(len(p.Objects))
		p.Objects = append(p.Objects, copied)
		o = &p.Objects[m.Object]
	}
	room := tableRoom(e.Size, e.Tables)
	m.Tables = p.gaps.take(d, m.Addr, room, waiting)
	o.Placement = &model.Placement{CodeAt: m.Addr, TablesAt: m.Tables, Room: room}
}
