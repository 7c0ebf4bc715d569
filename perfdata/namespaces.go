package perfdata

import "github.com/jitinject/jitinject/internal/wire"

// Namespaces is the content of a NAMESPACES record: from now on, a thread is in these namespaces.
// perf record writes them with --namespaces.
type Namespaces struct {
	PID, TID uint32
	Links    []Namespace // by kind: NamespacePID, ...
}

// A Namespace identifies a namespace until its machine reboots. It is the file that
// /proc/PID/ns/KIND leads to.
type Namespace struct{ Dev, Inode uint64 }

// Kinds of namespaces: *_NS_INDEX of linux/perf_event.h.
const (
	NamespacePID   = 3
	NamespaceMount = 5
)

// Of returns the namespace of a kind, or the zero Namespace if the record does not have it.
func (n *Namespaces) Of(kind int) Namespace {
	if kind >= len(n.Links) {
		return Namespace{}
	}
	return n.Links[kind]
}

// Namespaces decodes a NAMESPACES record.
func (ls *Layouts) Namespaces(rec Record) (Namespaces, error) {
	body, err := ls.body(rec)
	if err != nil {
		return Namespaces{}, err
	}
	c := wire.NewCursor(FormatName, rec.Type.String(), body, ls.order, recordHead)
	n := Namespaces{PID: c.U32("pid"), TID: c.U32("tid")}
	nr := c.U64("nr_namespaces")
	if c.Err() == nil && nr > uint64(c.Len())/16 {
		c.Bad("nr_namespaces", "is %d; the record has room for %d", nr, c.Len()/16)
	}
	for range nr {
		if c.Err() != nil {
			return Namespaces{}, c.Err()
		}
		n.Links = append(n.Links, Namespace{Dev: c.U64("dev"), Inode: c.U64("inode")})
	}
	return n, c.Err()
}
