package registered

import (
	"cmp"
	"debug/elf"
	"errors"
	"slices"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/format/gdbjit"
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
	for _, im := range p.images() {
		if addr, ok := im.dynamicSymbol(gdbjit.Symbol); ok {
			places = append(places, Place{addr, im.name, ByDynamicSymbol})
		} else if addr, ok, known := im.fileSymbol(gdbjit.Symbol); ok {
			places = append(places, Place{addr, im.name, BySymbol})
		} else if !known {
			places = append(places, im.scan()...)
		}
		im.close()
	}
	slices.SortFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.How, b.How))
	})
	return slices.CompactFunc(places, func(a, b Place) bool { return a.Addr == b.Addr })
}

const (
	// maxData bounds how much data of a file is searched, in bytes.
	maxData = 256 << 20

	// chunk is how much is read at once, in bytes.
	chunk = 1 << 20
)

// scan finds descriptors in the writable data of an image by their contents.
func (im *image) scan() (places []Place) {
	l := im.p.layout()
	size := l.DescriptorSize()
	buf := make([]byte, chunk)
	left := uint64(maxData)
	for _, x := range im.progs {
		if x.kind != elf.PT_LOAD || x.flags&elf.PF_W == 0 || x.memsz > left {
			continue
		}
		left -= x.memsz
		align := uint64(l.Pointer)
		at, end := (im.bias+x.vaddr+align-1)&^(align-1), im.bias+x.vaddr+x.memsz
		for at < end && end-at >= uint64(size) {
			b := buf[:min(uint64(len(buf)), end-at)]
			if n := im.readSome(at, b); n < size {
				at = (at + uint64(n) + pageSize) &^ (pageSize - 1) // a page that is not there
				continue
			} else {
				b = b[:n]
			}
			for i := 0; i+size <= len(b); i += l.Pointer {
				d := l.Descriptor(at+uint64(i), b[i:])
				if d.Version == gdbjit.Version && d.Action <= gdbjit.Unregister && d.First != 0 && d.First%4 == 0 && im.p.isWhole(&d) {
					places = append(places, Place{d.Addr, im.name, ByContent})
				}
			}
			// The next chunk begins with what was too short for a descriptor.
			at += uint64(len(b)-size+l.Pointer) &^ (align - 1)
		}
	}
	return places
}

// pageSize is the smallest size of a page, in bytes.
const pageSize = 4096

// readSome fills b with memory as far as it is there, and returns the number of bytes.
func (im *image) readSome(addr uint64, b []byte) int {
	for len(b) > 0 {
		err := im.p.ReadCode(addr, b)
		var missing *elfcore.MissingError
		switch {
		case err == nil:
			return len(b)
		case errors.As(err, &missing) && missing.Addr >= addr && missing.Addr-addr < uint64(len(b)):
			b = b[:missing.Addr-addr]
		default:
			b = b[:len(b)/2]
		}
	}
	return 0
}

// isWhole reports whether the list of a possible descriptor has no fault, and has ELF objects.
func (p *Process) isWhole(d *gdbjit.Descriptor) bool {
	list, err := gdbjit.ReadList(p.Memory, p.layout(), d.Addr)
	if err != nil || len(list.Entries) == 0 || len(list.Problems) > 0 {
		return false
	}
	return !slices.ContainsFunc(list.Entries, func(e gdbjit.Entry) bool {
		var magic [4]byte
		return e.Size < elf.EI_NIDENT || e.Size > gdbjit.MaxSymfile || p.ReadCode(e.Symfile, magic[:]) != nil || string(magic[:]) != elf.ELFMAG
	})
}
