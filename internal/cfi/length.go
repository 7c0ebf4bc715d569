package cfi

// X86Starts sweeps x86-64 code from its first byte. It sets the bits of the offsets at
// which an instruction starts, bit 0 of set[0] being the first byte's, and returns how
// many bytes it got through: it ends where the code does, or before an instruction that
// the decoder does not know. set has a bit for each byte of code, all 0.
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
