package gdbjit

import (
	"sync"

	"github.com/jitinject/jitinject/internal/format/jitelf"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit/registered"
)

// maxOpen bounds the number of open objects: each keeps its decoded debugging information.
const maxOpen = 64

// openObjects are the objects that were opened last, for all readers of a dump. Readers go through the
// functions by address, so an object is rarely opened twice. If functions of objects alternate, all stay open.
type openObjects struct {
	all bool

	mu    sync.Mutex
	open  map[*registered.Object]*jitelf.Object
	order []*registered.Object // the oldest first
}

// get returns an open object.
func (c *openObjects) get(o *registered.Object) (*jitelf.Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if opened := c.open[o]; opened != nil {
		return opened, nil
	}
	opened, err := o.Open()
	if err != nil {
		return nil, err
	}
	if c.open == nil {
		c.open = make(map[*registered.Object]*jitelf.Object)
	}
	if len(c.order) == maxOpen && !c.all {
		delete(c.open, c.order[0])
		c.order = c.order[1:]
	}
	c.open[o], c.order = opened, append(c.order, o)
	return opened, nil
}
