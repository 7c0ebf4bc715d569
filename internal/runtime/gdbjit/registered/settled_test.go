package registered

import (
	"errors"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/procmem"
)

// A changing memory is that of a core, and changes with each read of the descriptor.
type changing struct {
	Memory
	descriptor uint64
	reads      int // of the descriptor so far
	change     func(reads int, b []byte, addr uint64) error
}

func (c *changing) ReadCode(addr uint64, b []byte) error {
	if addr == c.descriptor {
		c.reads++
	}
	if err := c.Memory.ReadCode(addr, b); err != nil {
		return err
	}
	return c.change(c.reads, b, addr)
}

// A running process counts when two reads agree.
func TestSettled_ChangingProcess(t *testing.T) {
	core := realCore(t)
	places := Find(core)
	whole, err := Read(core, places)
	if err != nil {
		t.Fatal(err)
	}
	object := &whole.Objects[0]
	code := object.Functions[0].Addr
	for _, c := range []struct {
		name     string
		change   func(reads int, b []byte, addr uint64) error
		reads    int // of the descriptor
		objects  int
		unstable bool
		ended    bool
	}{
		{"quiet", func(int, []byte, uint64) error { return nil }, 2, 1, false, false},
		{"registered late", func(reads int, b []byte, addr uint64) error {
			if addr == places[0].Addr && reads < 4 {
				clear(b[8:]) // no entry yet
				b[4] = byte(reads)%2 + 1
			}
			return nil
		}, 2, 0, false, false},
		{"code replaced", func(reads int, b []byte, addr uint64) error {
			if addr == code && reads < 3 {
				b[0] = byte(reads)
			}
			return nil
		}, 4, 1, false, false},
		{"object replaced always", func(reads int, b []byte, addr uint64) error {
			if addr == object.Symfile && len(b) > 100 {
				b[len(b)-1] = byte(reads)
			}
			return nil
		}, maxReads + 1, 0, true, false},
		{"ended", func(reads int, _ []byte, addr uint64) error {
			if reads == 2 && addr == object.Symfile {
				return procmem.ErrEnded
			}
			return nil
		}, 2, 0, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := realCore(t)
			m := &changing{Memory: p.Memory, descriptor: places[0].Addr, change: c.change}
			p.Memory, p.Live = m, true
			r, err := Read(p, places)
			if m.reads != c.reads {
				t.Errorf("got %d reads; want %d", m.reads, c.reads)
			}
			if c.ended {
				if !errors.Is(err, procmem.ErrEnded) {
					t.Errorf("got error %v; want %v", err, procmem.ErrEnded)
				}
				return
			}
			if err != nil || len(r.Objects) != c.objects || r.Unstable != c.unstable {
				t.Fatalf("got %d objects, unstable %v, %v; want %d, %v", len(r.Objects), r.Unstable, err, c.objects, c.unstable)
			}
			if c.unstable && (len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Error(), "0 of 1 objects stayed")) {
				t.Errorf("got problems %v; want one about the objects that stayed", r.Problems)
			}
		})
	}
}
