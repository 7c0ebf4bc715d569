package engine_test

import "testing"

// With copies of stacks, functions move inside a region that has one image.

// A function that moves away and back has its name at each place, in both layouts.
func TestRegionMap_MovesBackInOneImage(t *testing.T) {
	for _, bundle := range []bool{false, true} {
		w := unwound(t)
		w.opts.Bundle = bundle
		w.dump("jit-100.dump", x86(100), load(1000, 100, 1, 0x10000, "left", code(64, 1)), load(1001, 100, 2, 0x10040, "mover", code(64, 2)),
			move(2000, 100, 2, 0x10040, 0x10080, 64), move(3000, 100, 2, 0x10080, 0x10040, 64))
		w.expect(100, 1500, 0x10048, "mover+0x8")
		w.expect(100, 2500, 0x10088, "mover+0x8")
		w.expect(100, 3500, 0x10048, "mover+0x8")
		w.expect(100, 3501, 0x10008, "left+0x8")
		w.check()
	}
}

// A child that is forked after the move does not have the function at its old place.
func TestRegionMap_ForkedAfterAMove(t *testing.T) {
	for _, bundle := range []bool{false, true} {
		w := unwound(t)
		w.opts.Bundle = bundle
		w.Fork(101, 100, 2000)
		w.dump("jit-100.dump", x86(100), load(1000, 100, 1, 0x10000, "left", code(64, 1)), load(1001, 100, 2, 0x10040, "mover", code(64, 2)),
			move(1500, 100, 2, 0x10040, 0x10080, 64), load(3000, 101, 3, 0x100c0, "more", code(64, 3)))
		w.expect(100, 1200, 0x10048, "mover+0x8")
		w.expect(100, 1700, 0x10048, "")
		w.expect(101, 2500, 0x10048, "")
		w.expect(101, 3500, 0x10048, "")
		w.expect(101, 3501, 0x10088, "mover+0x8")
		w.expect(101, 3502, 0x100c8, "more+0x8")
		w.check()
	}
}
