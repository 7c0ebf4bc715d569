package registered

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/format/gdbjit"
	"github.com/jitinject/jitinject/internal/format/jitelf"
)

// An Object is an ELF object that the process has registered.
type Object struct {
	gdbjit.Entry
	Functions []jitelf.Symbol // as in jitelf.Object
	Image     []byte          // the whole object
	Place     Place           // of the descriptor

	code pieces // of its functions, if the process is running
}

// A Registered has all that a process has registered.
type Registered struct {
	Lists    []*gdbjit.List // by Places
	Places   []Place
	Objects  []Object // those of a list in the order of their registration, as far as it is known
	Problems []error  // damage, each with its place
	Repeated int      // number of entries that name the object of another entry; they are dropped

	// Unstable says that the lists of a running process changed at each read. Objects are those
	// that two reads have in common.
	Unstable bool
}

// maxImages bounds the size of all objects of a process, in bytes.
const maxImages = 1 << 30

// room returns the bound for the size of all objects: they do not overlap in memory, nor in a core.
func (p *Process) room() uint64 {
	most, stored := uint64(maxImages), uint64(0)
	if core, ok := p.Memory.(interface{ Size() uint64 }); ok {
		most = min(most, core.Size())
	}
	for _, s := range p.Segments() {
		if stored += min(s.Stored, most); stored >= most {
			return most
		}
	}
	return stored
}

// Read reads the lists of descriptors and their objects. Its error says that a running process has
// ended.
func Read(p *Process, places []Place) (*Registered, error) {
	if p.Live {
		return p.settled(places)
	}
	return p.read(places), nil
}

// read reads the lists once.
func (p *Process) read(places []Place) *Registered {
	r := new(Registered)
	l := p.layout()
	left, entries := p.room(), p.maxEntries()
	type extent struct{ addr, size uint64 }
	known := make(map[extent]bool) // objects that were read, or cannot be read
	for _, place := range places {
		list, err := gdbjit.ReadList(p.Memory, l, place.Addr, entries)
		if err != nil {
			r.Problems = append(r.Problems, fmt.Errorf("%s: %w", place.File, err))
			continue
		}
		entries -= len(list.Entries)
		r.Lists, r.Places = append(r.Lists, list), append(r.Places, place)
		for _, err := range list.Problems {
			r.Problems = append(r.Problems, fmt.Errorf("%s: %w", place.File, err))
		}
		// Programs put new entries first.
		for i := len(list.Entries) - 1; i >= 0; i-- {
			e := &list.Entries[i]
			if known[extent{e.Symfile, e.Size}] {
				r.Repeated++
				continue
			}
			known[extent{e.Symfile, e.Size}] = true
			o, err := p.object(e, place, left)
			if err != nil {
				r.Problems = append(r.Problems, err)
				continue
			}
			left -= e.Size
			r.Objects = append(r.Objects, *o)
		}
	}
	return r
}

// object reads the object of an entry, which may have room bytes.
func (p *Process) object(e *gdbjit.Entry, place Place, room uint64) (*Object, error) {
	if e.Size <= gdbjit.MaxSymfile && e.Size > room {
		return nil, &gdbjit.Error{Record: "entry", Field: "symfile_size", Addr: e.Addr, Text: fmt.Sprintf("%d bytes; with the objects before, that is more than the memory of the process or %d MB", e.Size, maxImages>>20)}
	}
	image, err := gdbjit.ReadSymfile(p.Memory, e)
	if err != nil {
		return nil, err
	}
	o := &Object{Entry: *e, Image: image, Place: place}
	opened, err := jitelf.Open(image)
	if err != nil {
		return nil, fmt.Errorf("object at %#x: %w", e.Symfile, err)
	}
	o.Functions = opened.Functions()
	return o, nil
}

// Open opens the object. Only the result has the decoded debugging information: a process may have
// registered a hundred thousand objects.
func (o *Object) Open() (*jitelf.Object, error) { return jitelf.Open(o.Image) }

// ReadCode is as in jitcode.Memory, for the code of the object's functions. The code of a running
// process is that which was there when the object was read.
func (o *Object) ReadCode(p *Process, addr uint64, b []byte) error {
	if p.Live {
		return o.code.ReadCode(addr, b)
	}
	return p.ReadCode(addr, b)
}
