package cfi

// X86Starts sets the bits of the offsets at which an instruction starts, by a sweep of
// x86-64 code from its first byte. Bit 0 of set[0] is for the first byte. It returns the
// number of bytes decoded: the sweep ends with the code, or before an unknown instruction.
// set has a bit for each byte of code, all 0.
func X86Starts(set []uint64, code []byte) (reached int) {
	var ops []op
	for at := 0; at < len(code); {
		var n int
		if ops, n = decodeX86(code, at, ops[:0]); n == 0 {
			return at
		}
		set[at>>6] |= 1 << (at & 63)
		at += n
	}
	return len(code)
}
