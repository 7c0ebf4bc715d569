package recording

import (
	"testing"
)

// Children that map memory over all that their parent has mapped replace few of its mappings for each mapping that there is.
func TestReplacements_Bounded(t *testing.T) {
	const children, mappings = 300, 300
	rec := new(Recording)
	p := rec.Processes.Seen(1, 0)
	for i := range uint64(mappings) {
		p.FileMaps = append(p.FileMaps, FileMap{Lo: 2 * i << 12, Hi: (2*i + 1) << 12, Name: "/lib/x.so", Time: 1, Pos: int64(i)})
	}
	for i := range uint32(children) {
		rec.ProcessTree.fork(fork{2 + i, 1, 2, true})
		rec.Processes.Seen(2+i, 2).FileMaps = []FileMap{{Hi: 2 * mappings << 12, Time: 3, backing: privateBacking}}
	}
	list, all := NewFileHistories(rec).Replacements(nil)
	if most := fewReplaced + replacedPerMapping*(children+mappings) + mappings; all || len(list) < mappings || len(list) > most {
		t.Errorf("got %d replacements, all: %v; want %d to %d, not all", len(list), all, mappings, most)
	}
}
