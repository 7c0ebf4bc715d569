package cfi

// Changes of the base register by an instruction.
const (
	asIs = iota
	before
	after
)

// arm64Memory decodes loads and stores.
func arm64Memory(e *emitter, w uint32) {
	rt, load := bits(w, 4, 0), false
	switch vector := bits(w, 26, 26) == 1; {
	case w&0x3a000000 == 0x28000000:
		arm64Pair(e, w)
	case w&0x3b000000 == 0x18000000: // load relative to pc
		if !vector && bits(w, 31, 30) != 3 {
			arm64Write(e, rt)
		}
	case w&0x3b000000 == 0x39000000: // base and unsigned offset
		scale := bits(w, 31, 30)
		load = bits(w, 23, 22) != 0
		if vector {
			scale |= bits(w, 23, 23) << 2
			load = bits(w, 22, 22) != 0
		}
		arm64Access(e, w, rt, !vector && scale == 3 && bits(w, 23, 22) < 2, vector, load, asIs, int32(bits(w, 21, 10)<<scale))
	case w&0x3b200000 == 0x38000000: // base and signed offset
		load = bits(w, 23, 22) != 0
		if vector {
			load = bits(w, 22, 22) != 0
		}
		change := [4]int{asIs, after, asIs, before}[bits(w, 11, 10)]
		arm64Access(e, w, rt, !vector && bits(w, 31, 30) == 3 && bits(w, 23, 22) < 2, vector, load, change, signed(bits(w, 20, 12), 9))
	case w&0x3b200c00 == 0x38200800: // base and a register
		if !vector && bits(w, 23, 22) != 0 {
			arm64Write(e, rt)
		}
	case w&0x3b200c00 == 0x38200000: // atomic
		if !vector {
			arm64Write(e, rt)
		}
	case w&0x3b200400 == 0x38200400: // loads with authentication
		e.add(op{kind: opLoseSP})
		arm64Write(e, rt)
	case w&0x3f000000 == 0x08000000: // exclusive, ordered, compare and swap
		arm64Write(e, bits(w, 20, 16)) // status, or the old value
		if bits(w, 22, 22) == 1 {
			arm64Write(e, rt)
			arm64Write(e, bits(w, 14, 10))
		}
	case w&0x3f000000 == 0x19000000: // with less order, tags, memory copies
		arm64Write(e, rt)
		if bits(w, 21, 21) == 1 && bits(w, 9, 5) == aSP && bits(w, 11, 10) != 2 {
			e.add(op{kind: opLoseSP})
		}
	case w&0x9f000000 == 0x0c000000 || w&0xbf000000 == 0x0d000000: // vector structures
		if bits(w, 23, 23) == 1 && bits(w, 9, 5) == aSP {
			e.add(op{kind: opLoseSP})
		} else if bits(w, 23, 23) == 1 {
			arm64Write(e, bits(w, 9, 5))
		}
	}
}

// arm64Base returns the base register, or baseNone if it is not tracked.
func arm64Base(w uint32) uint8 {
	switch bits(w, 9, 5) {
	case aSP:
		return baseSP
	case aFP:
		return baseFP
	}
	return baseNone
}

// arm64Move adds the op of changing the base register by an access.
func arm64Move(e *emitter, w uint32, by int32) {
	if bits(w, 9, 5) == aSP {
		e.add(opAdd(by))
	} else {
		arm64Write(e, bits(w, 9, 5))
	}
}

// arm64Access adds the ops of a load or store of one register. whole marks 64 bits of a general
// register.
func arm64Access(e *emitter, w, rt uint32, whole, vector, load bool, change int, by int32) {
	displacement := by
	if change == before {
		arm64Move(e, w, by)
	}
	if change != asIs {
		displacement = 0
	}
	size := uint8(1) << bits(w, 31, 30)
	if vector && bits(w, 23, 23) == 1 {
		size = 16
	}
	arm64Word(e, arm64Base(w), rt, whole, vector, load, displacement, size)
	if change == after {
		arm64Move(e, w, by)
	}
}

// arm64Word adds the ops for one register of a load or store.
func arm64Word(e *emitter, base uint8, rt uint32, whole, vector, load bool, displacement int32, size uint8) {
	reg := arm64Watched(rt)
	switch {
	case load && base == baseFP && (vector || reg == none):
		e.add(op{kind: opUseFP})
	case load && vector:
	case load && whole && base != baseNone && reg != none:
		e.add(op{kind: opLoad, reg: reg, base: base, imm: displacement})
	case load:
		arm64Write(e, rt)
	case base != baseNone:
		if !whole {
			reg = none
		}
		e.add(op{kind: opStore, reg: reg, base: base, imm: displacement, size: size})
	}
}

// arm64Pair decodes a load or store of two registers.
func arm64Pair(e *emitter, w uint32) {
	vector, load, size := bits(w, 26, 26) == 1, bits(w, 22, 22) == 1, int32(4)
	switch opc := bits(w, 31, 30); {
	case vector:
		size <<= opc
	case opc == 2:
		size = 8
	}
	whole := !vector && size == 8
	by := signed(bits(w, 21, 15), 7) * size
	displacement := by
	change := [4]int{asIs, after, asIs, before}[bits(w, 24, 23)]
	if change == before {
		arm64Move(e, w, by)
	}
	if change != asIs {
		displacement = 0
	}
	base, rt, rt2 := arm64Base(w), bits(w, 4, 0), bits(w, 14, 10)
	if load && !vector && rt == aFP && base == baseFP { // load the base last
		arm64Word(e, base, rt2, whole, vector, load, displacement+size, uint8(size))
		arm64Word(e, base, rt, whole, vector, load, displacement, uint8(size))
	} else {
		arm64Word(e, base, rt, whole, vector, load, displacement, uint8(size))
		arm64Word(e, base, rt2, whole, vector, load, displacement+size, uint8(size))
	}
	if change == after {
		arm64Move(e, w, by)
	}
}

// paddingARM64 returns the length of the padding at the start of code, in bytes: nop, udf 0 and
// brk.
func paddingARM64(code []byte) int {
	at := 0
	for len(code)-at >= 4 {
		w := uint32(code[at]) | uint32(code[at+1])<<8 | uint32(code[at+2])<<16 | uint32(code[at+3])<<24
		if w != 0xd503201f && w != 0 && w&0xffe0001f != 0xd4200000 {
			break
		}
		at += 4
	}
	return at
}
