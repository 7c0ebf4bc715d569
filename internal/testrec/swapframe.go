package testrec

// frames swaps the entries of an .eh_frame section with pointers of four bytes
// [LSB Core 10.6.1].
func (s *swapper) frames() {
	for len(s.b) >= 4 {
		e := s.sub(int(s.u32()))
		switch {
		case len(e.b) < 4: // the end
		case e.u32() == 0: // CIE: version, augmentation, alignments, return address, augmentation data
			e.bytes(1)
			e.cstring()
			e.leb(3)
			e.bytes(int(e.leb(1)))
			e.instructions()
		default: // FDE
			e.u32s(2) // start, length
			e.bytes(int(e.leb(1)))
			e.instructions()
		}
	}
}

// frameHeader swaps an .eh_frame_hdr: version and encodings, and then numbers of
// four bytes in the encodings that are in use [LSB Core 10.6.2].
func (s *swapper) frameHeader() {
	s.bytes(min(4, len(s.b)))
	s.u32s(len(s.b) / 4)
}

// instructions swaps the operands of call frame instructions that are no bytes
// [DWARF 5, 6.4.2].
func (s *swapper) instructions() {
	for len(s.b) > 0 {
		switch op := s.bytes(1)[0]; {
		case op>>6 == 2: // offset
			s.leb(1)
		case op>>6 != 0: // advance_loc, restore
		case op == 0 || op == 0x0a || op == 0x0b: // nop, remember_state, restore_state
		case op == 2: // advance_loc1
			s.bytes(1)
		case op == 3:
			s.u16()
		case op == 4:
			s.u32()
		case op == 5 || op == 9 || op == 0x0c || op == 0x11 || op == 0x12: // two numbers
			s.leb(2)
		case op >= 6 && op <= 8 || op == 0x0d || op == 0x0e || op == 0x13:
			s.leb(1)
		default:
			return
		}
	}
}

// leb passes over n LEB128 numbers and returns the last one, if it is small.
func (s *swapper) leb(n int) (v uint64) {
	for ; n > 0 && len(s.b) > 0; n-- {
		b := s.bytes(1)[0]
		for v = uint64(b & 0x7f); b >= 0x80 && len(s.b) > 0; {
			b = s.bytes(1)[0]
		}
	}
	return v
}
