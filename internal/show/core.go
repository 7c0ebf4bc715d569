package show

import (
	"debug/elf"
	"strings"

	"github.com/jitinject/jitinject/internal/elfcore"
)

// Core dumps, from which --code-from takes code: whose they are, their threads, which
// files were mapped, and what of the memory is in them.

// coreTypes are what core dumps are shown as.
var coreTypes = []string{"thread", "mapping", "memory"}

// showCore shows a core dump.
func showCore(v *viewer, c *elfcore.Core) error {
	o, filter := v.out, &v.opts.Filter
	v.begun(elfcore.FormatName)
	o.word("class", strings.ToLower(strings.TrimPrefix(c.Class.String(), "ELFCLASS"))+"-bit")
	o.word("order", orderName(c.Order))
	o.named("machine", uint64(c.Machine), machineName(uint32(c.Machine)))
	if p := c.Process(); p != nil {
		o.num("pid", uint64(p.PID))
		o.num("parent", uint64(p.PPID))
		o.str("command", []byte(p.Command))
		o.str("args", []byte(p.Args))
	}
	o.end()
	for _, err := range c.Problems {
		v.problem(-1, err)
	}
	if filter.Time.Set {
		return nil // nothing in a core dump has one
	}
	if filter.typed("thread") && len(filter.Names) == 0 {
		for _, t := range c.Threads() {
			if (len(filter.PIDs) == 0 || filter.pid(uint32(c.PID()))) && filter.Address.touches(t.PC, 1) {
				v.coreThread(&t)
			}
		}
	}
	if len(filter.PIDs) > 0 && !filter.pid(uint32(c.PID())) {
		return nil
	}
	if filter.typed("mapping") {
		for _, m := range c.Files() {
			if !filter.name([]byte(m.Name)) || !filter.Address.touches(m.Start, m.End-m.Start) || v.lost() {
				continue
			}
			o.begin(item{offset: -1, typ: "mapping", size: -1})
			o.hex("addr", m.Start)
			o.num("len", m.End-m.Start)
			o.hex("pgoff", m.Offset)
			o.str("filename", []byte(m.Name))
			o.end()
		}
	}
	if filter.typed("memory") && len(filter.Names) == 0 {
		for _, s := range c.Segments() {
			if filter.Address.touches(s.Addr, s.Size) && !v.lost() {
				v.coreSegment(&s)
			}
		}
	}
	return nil
}

func (v *viewer) coreThread(t *elfcore.Thread) {
	o := v.out
	o.begin(item{offset: -1, typ: "thread", size: -1})
	o.num("tid", uint64(t.TID))
	o.hex("pc", t.PC)
	o.hex("sp", t.SP)
	o.hex("thread_pointer", t.ThreadPointer)
	if t.Signal != 0 {
		o.signed("signal", int64(t.Signal))
	}
	o.end()
}

func (v *viewer) coreSegment(s *elfcore.Segment) {
	o := v.out
	o.begin(item{offset: s.Offset, typ: "memory", size: int64(s.Stored)})
	o.hex("addr", s.Addr)
	o.num("len", s.Size)
	var flags []string
	for _, f := range []struct {
		bit  elf.ProgFlag
		name string
	}{{elf.PF_R, "read"}, {elf.PF_W, "write"}, {elf.PF_X, "execute"}} {
		if s.Flags&f.bit != 0 {
			flags = append(flags, f.name)
		}
	}
	o.words("flags", flags)
	o.end()
}
