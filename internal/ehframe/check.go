package ehframe

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/wire"
)

// A Place has the code range that an .eh_frame describes, and the address of the .eh_frame when its
// producer wrote it. Relative pointers in it count from there.
type Place struct {
	Order    binary.ByteOrder
	AddrSize int    // 4 or 8
	Code     uint64 // address of the function
	CodeSize uint64
	Frames   uint64      // address of the .eh_frame; DefaultPlace sets it as perf expects
	Text     uint64      // base of pointers relative to .text; 0 if unknown
	Machine  elf.Machine // EM_NONE if unknown
}

// registers returns the number of registers that can be the base of a CFA.
func (p *Place) registers() uint64 {
	switch p.Machine {
	case elf.EM_X86_64:
		return 16
	case elf.EM_386:
		return 8
	case elf.EM_AARCH64:
		return 32
	}
	return 128
}

// pushes reports whether calls put the return address on the stack, on known machines.
func (p *Place) pushes() bool { return p.Machine == elf.EM_X86_64 || p.Machine == elf.EM_386 }

// DefaultPlace returns the place where perf and its producers have .eh_frame: at the next multiple
// of 8 after the code.
func DefaultPlace(order binary.ByteOrder, addrSize int, code, size uint64) Place {
	return Place{Order: order, AddrSize: addrSize, Code: code, CodeSize: size, Frames: code + (size+7)&^7}
}

// Check reads the .eh_frame that a producer sent for a function [LSB Core 10.6.1]. It returns the
// table without addresses, or an error that describes the fault. Tables without an FDE are empty:
// both results are then empty.
//
// Personality routines and language data are dropped: no exceptions are thrown here. The result
// aliases frames.
//
// Some producers do not record where their tables are (LLVM copies them from its memory). Then the
// FDEs lie outside the function. If one shift moves them into the function, so that they fill it,
// Check assumes that place.
func Check(place Place, frames []byte) (jitcode.FrameTable, error) {
	r := reader{place: place, c: wire.NewCursor(".eh_frame", "", frames, place.Order, 0), at: make(map[int]int)}
	for r.c.Err() == nil && r.c.Len() >= 4 && !r.ended {
		r.entry()
	}
	if r.c.Err() == nil && !blank(r.c.Rest()) {
		r.c.Bad("length", "fewer than 4 bytes")
	}
	if r.c.Err() == nil {
		r.finish()
	}
	if r.c.Err() == nil {
		r.apart()
	}
	if err := r.c.Err(); err != nil {
		return jitcode.FrameTable{}, err
	}
	if len(r.table.FDEs) == 0 {
		return jitcode.FrameTable{}, nil
	}
	return r.table, nil
}

// A reader reads an .eh_frame. Its cursor covers the current entry, and keeps the first error.
type reader struct {
	place Place
	c     wire.Cursor
	table jitcode.FrameTable
	at    map[int]int // index of a CIE by its offset
	more  []cieExtra  // for each CIE
	begin []uint64    // start addresses of FDEs
	moved bool        // some pointer is relative to its own address
	fixed bool        // some pointer is not
	ended bool
}

// A cieExtra has the parts of a CIE that matter only while FDEs are read.
type cieExtra struct {
	augmented bool  // augmentation begins with "z"
	encoding  uint8 // of pointers to code
	program
}

// entryLength reads the length of an entry, which may be extended: 0xffffffff and 8 bytes
// [LSB Core 10.6.1]. CIE ids and pointers have 4 bytes after both. 0 is a terminator.
func entryLength(c *wire.Cursor) uint64 {
	if n := c.U32("length"); n != math.MaxUint32 {
		return uint64(n)
	}
	n := c.U64("extended length")
	if n == 0 {
		c.Bad("extended length", "0")
	}
	return n
}

// entry reads a CIE or an FDE.
func (r *reader) entry() {
	start := r.c.Pos()
	length := entryLength(&r.c)
	if r.c.Err() == nil && length == 0 {
		if rest := r.c.Rest(); len(r.table.FDEs) == 0 && !blank(rest) {
			r.c.Bad("terminator", "more bytes follow it")
		}
		r.ended = true
		return
	}
	idAt := r.c.Pos()
	body := r.c.Bytes("entry", length)
	if r.c.Err() != nil {
		return
	}
	outer := r.c
	r.c = wire.NewCursor(".eh_frame", "CIE", body, r.place.Order, int64(idAt))
	id := r.c.U32("CIE id")
	cie, ok := r.at[idAt-int(id)]
	switch {
	case r.c.Err() != nil:
	case id == 0:
		r.cie(start)
	case !ok:
		r.c = wire.NewCursor(".eh_frame", "FDE", body, r.place.Order, int64(idAt))
		r.c.Fail("CIE pointer", "no CIE begins at offset %#x", idAt-int(id))
	default:
		r.c = wire.NewCursor(".eh_frame", "FDE", body, r.place.Order, int64(idAt))
		r.c.U32("CIE pointer")
		r.fde(cie, idAt)
	}
	if r.c.Err() == nil {
		r.c = outer
	}
}

// cie reads a CIE after its id.
func (r *reader) cie(start int) {
	c := &r.c
	if v := c.U8("version"); v != 1 && v != 3 {
		c.Bad("version", "%d, want 1 or 3", v)
		return
	} else if augmentation := c.CString("augmentation"); c.Err() == nil {
		if rest, ok := bytes.CutPrefix(augmentation, []byte("eh")); ok { // GCC 2: with a pointer to data
			augmentation = rest
			c.Bytes("EH data", uint64(r.place.AddrSize))
		}
		cie := jitcode.FrameCIE{CodeAlign: c.Uleb("code alignment factor"), DataAlign: c.Sleb("data alignment factor")}
		if v == 1 {
			cie.ReturnReg = uint64(c.U8("return address register"))
		} else {
			cie.ReturnReg = c.Uleb("return address register")
		}
		more := cieExtra{}
		r.augment(string(augmentation), &cie, &more)
		if c.Err() != nil {
			return
		}
		if cie.CodeAlign == 0 || cie.CodeAlign > math.MaxUint8 {
			c.Fail("code alignment factor", "%d", cie.CodeAlign)
		}
		if cie.DataAlign == 0 || cie.DataAlign > math.MaxInt8 || cie.DataAlign < math.MinInt8 {
			c.Fail("data alignment factor", "%d", cie.DataAlign)
		}
		if cie.ReturnReg > math.MaxUint8 {
			c.Fail("return address register", "%d", cie.ReturnReg)
		}
		more.program = program{place: &r.place, cie: &cie}
		cie.Instructions = more.run(c)
		r.at[start] = len(r.table.CIEs)
		r.table.CIEs, r.more = append(r.table.CIEs, cie), append(r.more, more)
	}
}

// augment reads the data for the letters of an augmentation. Two letters of AArch64 have no data and
// are dropped: B, return addresses are signed with the second key, and G, memory of frames is tagged
// [DWARF for the Arm 64-bit Architecture]. They are for unwinders inside the process, because others
// have neither keys nor tags.
func (r *reader) augment(letters string, cie *jitcode.FrameCIE, more *cieExtra) {
	c := &r.c
	if letters == "" {
		return
	}
	if letters[0] != 'z' {
		c.Fail("augmentation", "%q, want one that begins with z", letters)
		return
	}
	more.augmented = true
	data := c.Bytes("augmentation data", c.Uleb("augmentation length"))
	if c.Err() != nil {
		return
	}
	a := wire.NewCursor(".eh_frame", "CIE", data, r.place.Order, c.Offset()-int64(len(data)))
	for _, letter := range letters[1:] {
		switch letter {
		case 'R':
			more.encoding = a.U8("pointer encoding")
		case 'L':
			a.U8("LSDA encoding")
		case 'P':
			if e := a.U8("personality encoding"); e != peOmit {
				r.pointer(&a, "personality routine", e&0x7f)
			}
		case 'S':
			cie.Signal = true
		case 'B', 'G':
		default:
			a.Fail("augmentation", "%q; %c is unknown", letters, letter)
		}
	}
	if a.Err() != nil {
		r.c = a
		return
	}
	switch more.encoding &^ 0x0f {
	case peAbsolute, pePCRel:
	case peTextRel:
		if r.place.Text == 0 {
			c.Fail("pointer encoding", "%#x, relative to a .text at an unknown address", more.encoding)
		}
	default:
		c.Fail("pointer encoding", "%#x, which is neither absolute nor relative to its own place", more.encoding)
	}
}

// fde reads an FDE after its CIE pointer, which is at idAt.
func (r *reader) fde(cie, idAt int) {
	c, more := &r.c, r.more[cie]
	pcAt := uint64(idAt + c.Pos())
	begin := r.pointer(c, "pc begin", more.encoding&0x0f)
	switch {
	case more.encoding&pePCRel != 0:
		begin += r.place.Frames + pcAt
		r.moved = true
	case more.encoding&peTextRel != 0:
		begin += r.place.Text
		r.fixed = true
	default:
		r.fixed = true
	}
	begin = r.mask(begin)
	size := r.pointer(c, "pc range", more.encoding&0x07) // a length has no sign
	if more.encoding&0x0f == peSdata4 || more.encoding&0x0f == peUdata4 {
		size &= math.MaxUint32
	}
	if c.Err() == nil && (size == 0 || size > r.place.CodeSize) {
		c.Bad("pc range", "%d bytes of a function of %d", size, r.place.CodeSize)
	}
	if more.augmented {
		c.Bytes("augmentation data", c.Uleb("augmentation length"))
	}
	p := more.program
	p.cie, p.size, p.initial, p.saved = &r.table.CIEs[cie], size, p.now, slices.Clone(p.saved)
	instructions := p.run(c)
	r.table.FDEs = append(r.table.FDEs, jitcode.FrameFDE{CIE: cie, Offset: r.mask(begin - r.place.Code), Size: size, Instructions: instructions})
	r.begin = append(r.begin, begin)
}

func (r *reader) mask(v uint64) uint64 {
	if r.place.AddrSize == 4 {
		return v & math.MaxUint32
	}
	return v
}

// finish ensures that the FDEs lie in the function.
func (r *reader) finish() {
	if len(r.table.FDEs) == 0 || r.inside(0) {
		return
	}
	low, high := r.begin[0], r.begin[0]
	for i, f := range r.table.FDEs {
		low, high = min(low, r.begin[i]), max(high, r.begin[i]+f.Size)
	}
	const padding = 16
	if shift := r.mask(r.place.Code - low); r.moved && !r.fixed && high-low <= r.place.CodeSize && high-low+padding > r.place.CodeSize && r.inside(shift) {
		for i := range r.table.FDEs {
			r.table.FDEs[i].Offset = r.mask(r.table.FDEs[i].Offset + shift)
		}
		r.table.Moved = true
		return
	}
	for i, f := range r.table.FDEs {
		if f.Offset >= r.place.CodeSize || f.Offset+f.Size > r.place.CodeSize {
			r.c.Fail("", "the FDE for %#x to %#x is not in the function at %#x to %#x", r.begin[i], r.begin[i]+f.Size, r.place.Code, r.place.Code+r.place.CodeSize)
			return
		}
	}
}

// apart ensures that no FDEs overlap.
func (r *reader) apart() {
	sorted := slices.Clone(r.table.FDEs)
	slices.SortFunc(sorted, func(a, b jitcode.FrameFDE) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; b.Offset < a.Offset+a.Size {
			r.c.Fail("", "the FDEs for offsets %#x to %#x and %#x to %#x overlap", a.Offset, a.Offset+a.Size, b.Offset, b.Offset+b.Size)
			return
		}
	}
}

// inside reports whether all FDEs, shifted by shift, lie in the function.
func (r *reader) inside(shift uint64) bool {
	for _, f := range r.table.FDEs {
		if at := r.mask(f.Offset + shift); at >= r.place.CodeSize || f.Size > r.place.CodeSize-at {
			return false
		}
	}
	return true
}
