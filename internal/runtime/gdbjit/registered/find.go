package registered

import (
	"cmp"
	"debug/elf"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/format/gdbjit"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A How says how a descriptor was found.
type How int

const (
	ByDynamicSymbol How = iota // a dynamic symbol of the file
	BySymbol                   // another symbol of the file
	ByContent                  // it looks like a descriptor, and its list is whole
)

// String returns the way in words.
func (h How) String() string {
	return [...]string{"by its dynamic symbol", "by its symbol in the file", "by its contents, without a symbol"}[h]
}

// A Place is the place of a descriptor.
type Place struct {
	Addr uint64
	File string // that has it, as the kernel names it
	How  How
}

// Find returns the descriptors of a process, in the order of their addresses.
func Find(p *Process) (places []Place) {
	left := budget{data: min(maxData, p.room()), entries: p.maxEntries()}
	for im := range p.images() {
		if addr, ok := im.dynamicSymbol(gdbjit.Symbol); ok {
			places = append(places, Place{addr, im.name, ByDynamicSymbol})
		} else if addr, ok, known := im.fileSymbol(gdbjit.Symbol); ok {
			places = append(places, Place{addr, im.name, BySymbol})
		} else if !known {
			places = append(places, im.scan(&left)...)
		}
	}
	sorting.By(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.How, b.How))
	})
	return slices.CompactFunc(places, func(a, b Place) bool { return a.Addr == b.Addr })
}

const (
	// maxData bounds the data of a process that is searched, in bytes.
	maxData = 256 << 20

	// chunk is the size of one read, in bytes.
	chunk = 1 << 20
)

// maxEntries bounds the entries of all lists. Many descriptors may lead to one list, and entries may overlap.
func (p *Process) maxEntries() int { return int(p.room()) / p.layout().EntrySize() }

// A budget is what a search may still read.
type budget struct {
	data    uint64 // in bytes
	entries int    // of lists
}

// scan finds descriptors in the writable data of an image by their contents.
func (im *image) scan(left *budget) (places []Place) {
	for _, x := range im.progs {
		if x.Type != elf.PT_LOAD || x.Flags&elf.PF_W == 0 || x.Memsz == 0 {
			continue
		}
		lo := im.bias + x.Vaddr
		hi := lo + x.Memsz
		segments := im.p.Segments()
		i := sort.Search(len(segments), func(i int) bool { return segments[i].Addr+(segments[i].Size-1) >= lo })
		for ; i < len(segments) && segments[i].Addr < hi; i++ {
			s := &segments[i]
			from, to := max(lo, s.Addr), min(hi, s.Addr+s.Stored)
			if from >= to {
				continue
			}
			to = from + min(to-from, left.data)
			left.data -= to - from
			places = append(places, im.scanMemory(from, to, left)...)
		}
	}
	return places
}

// scanMemory finds descriptors from one address up to another one.
func (im *image) scanMemory(from, to uint64, left *budget) (places []Place) {
	l := im.p.layout()
	size, align := uint64(l.DescriptorSize()), uint64(l.Pointer)
	buf := make([]byte, min(chunk, to-from))
	for at := (from + align - 1) &^ (align - 1); at < to && to-at >= size; {
		b := buf[:min(uint64(len(buf)), to-at)]
		if im.p.ReadCode(at, b) != nil {
			return places
		}
		for i := uint64(0); i+size <= uint64(len(b)); i += align {
			d := l.Descriptor(at+i, b[i:])
			if d.Version == gdbjit.Version && d.Action <= gdbjit.Unregister && d.First != 0 && d.First%4 == 0 && im.p.isWhole(&d, left) {
				places = append(places, Place{d.Addr, im.name, ByContent})
			}
		}
		at += (uint64(len(b)) - size + align) &^ (align - 1) // the rest is shorter than a descriptor: it is read again
	}
	return places
}

// isWhole reports whether the list of a possible descriptor has no fault, and has ELF objects.
func (p *Process) isWhole(d *gdbjit.Descriptor, left *budget) bool {
	first := make([]byte, p.layout().EntrySize())
	if left.entries <= 0 || p.ReadCode(d.First, first) != nil {
		return false
	}
	if e := p.layout().Entry(d.First, first); e.Prev != 0 || !p.isObject(&e) {
		return false // no need to read a list
	}
	list, err := gdbjit.ReadList(p.Memory, p.layout(), d.Addr, left.entries)
	if err != nil {
		return false
	}
	left.entries -= len(list.Entries)
	return len(list.Problems) == 0 && !slices.ContainsFunc(list.Entries, func(e gdbjit.Entry) bool { return !p.isObject(&e) })
}

// isObject reports whether an entry seems to have an ELF object.
func (p *Process) isObject(e *gdbjit.Entry) bool {
	var magic [4]byte
	return e.Size >= elf.EI_NIDENT && e.Size <= gdbjit.MaxSymfile && p.ReadCode(e.Symfile, magic[:]) == nil && string(magic[:]) == elf.ELFMAG
}
