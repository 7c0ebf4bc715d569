package showelf

import (
	"debug/elf"
	"strings"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showgdbjit"
)

// Core dumps, from which --code-from takes code: their process and threads, the mapped
// files, and the memory in them.

// coreTypes are what core dumps are shown as.
var coreTypes = append([]string{"thread", "mapping", "memory"}, showgdbjit.Types...)

// showCore shows a core dump.
func showCore(v *show.Viewer, c *elfcore.Core) error {
	o, filter := v.Out, &v.Opts.Filter
	v.Begun(elfcore.FormatName)
	o.Word("class", strings.ToLower(strings.TrimPrefix(c.Class.String(), "ELFCLASS"))+"-bit")
	o.Word("order", show.OrderName(c.Order))
	o.Named("machine", uint64(c.Machine), show.MachineName(uint32(c.Machine)))
	if p := c.Process(); p != nil {
		o.Num("pid", uint64(p.PID))
		o.Num("parent", uint64(p.PPID))
		o.Str("command", []byte(p.Command))
		o.Str("args", []byte(p.Args))
	}
	o.End()
	for _, err := range c.Problems {
		v.Problem(-1, err)
	}
	if filter.Time.Set {
		return nil // nothing in a core dump has one
	}
	if filter.MatchesType("thread") && len(filter.Names) == 0 {
		for _, t := range c.Threads() {
			if (len(filter.PIDs) == 0 || filter.MatchesPID(uint32(c.PID()))) && filter.Address.Meets(t.PC, 1) {
				coreThread(v, &t)
			}
		}
	}
	if len(filter.PIDs) > 0 && !filter.MatchesPID(uint32(c.PID())) {
		return nil
	}
	if filter.MatchesType("mapping") {
		for _, m := range c.Files() {
			if !filter.MatchesName([]byte(m.Name)) || !filter.Address.Meets(m.Start, m.End-m.Start) || v.Lost() {
				continue
			}
			o.Begin(show.Item{Offset: -1, Type: "mapping", Size: -1})
			o.Hex("addr", m.Start)
			o.Num("len", m.End-m.Start)
			o.Hex("pgoff", m.Offset)
			o.Str("filename", []byte(m.Name))
			o.End()
		}
	}
	if filter.MatchesType("memory") && len(filter.Names) == 0 {
		for _, s := range c.Segments() {
			if filter.Address.Meets(s.Addr, s.Size) && !v.Lost() {
				coreSegment(v, &s)
			}
		}
	}
	showgdbjit.Show(v, c)
	return nil
}

func coreThread(v *show.Viewer, t *elfcore.Thread) {
	o := v.Out
	o.Begin(show.Item{Offset: -1, Type: "thread", Size: -1})
	o.Num("tid", uint64(t.TID))
	o.Hex("pc", t.PC)
	o.Hex("sp", t.SP)
	o.Hex("thread_pointer", t.ThreadPointer)
	if t.Signal != 0 {
		o.Signed("signal", int64(t.Signal))
	}
	o.End()
}

func coreSegment(v *show.Viewer, s *elfcore.Segment) {
	o := v.Out
	o.Begin(show.Item{Offset: s.Offset, Type: "memory", Size: int64(s.Stored)})
	o.Hex("addr", s.Addr)
	o.Num("len", s.Size)
	var flags []string
	for _, f := range []struct {
		bit  elf.ProgFlag
		name string
	}{{elf.PF_R, "read"}, {elf.PF_W, "write"}, {elf.PF_X, "execute"}} {
		if s.Flags&f.bit != 0 {
			flags = append(flags, f.name)
		}
	}
	o.Words("flags", flags)
	o.End()
}
