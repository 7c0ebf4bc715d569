package dwarfgen_test

import (
	"debug/dwarf"
	"runtime/debug"
	"testing"

	"github.com/jitinject/jitinject/dwarfgen"
)

// A tree of 65,536 levels, with a stack of 256 KiB: inline calls nest as their
// producer likes.
func TestWrite_DeepTree(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(256 << 10))
	const depth = 1 << 16
	forEach(t, func(t *testing.T, enc dwarfgen.Encoding) {
		var b dwarfgen.Builder
		var u dwarfgen.Unit
		if err := b.Reset(enc); err != nil {
			t.Fatal(err)
		}
		u.Reset()
		at := dwarfgen.EntryID(0)
		for range depth {
			at = u.Add(at, dwarf.TagInlinedSubroutine)
		}
		u.Add(0, dwarf.TagSubprogram)
		b.Add(&u)
		r := read(t, &b).Reader()
		level, deepest, last := 0, 0, dwarf.Tag(0)
		for {
			e, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if e == nil {
				break
			}
			switch {
			case e.Tag == 0:
				level--
				continue
			case e.Children:
				level++
			}
			deepest, last = max(deepest, level), e.Tag
		}
		if level != 0 || deepest != depth || last != dwarf.TagSubprogram {
			t.Errorf("%d levels, then %v; %d lists do not end", deepest, last, level)
		}
	})
}
