package export

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/sorting"
)

// writeFolded writes a line for each distinct stack: its frames from the outermost, separated by
// semicolons, a space and the sum of the periods. The lines are sorted.
//
// The form is that of FlameGraph's stackcollapse-perf.pl --all: the first frame is the name of the
// thread, and suffixes say where code comes from (inlined _[i], kernel _[k], JIT _[j]). An inlined
// call has only the first of them. If there are several events, the name of the event comes before
// the thread, because the sum of different units has no meaning.
func writeFolded(w *bufio.Writer, p *profile.Profile, _ Options) error {
	f := foldStacks(p)
	several := len(usedEvents(p)) > 1
	type line struct {
		first string // event and thread
		node  int32
	}
	sums := make(map[line]uint64)
	for i := range p.Samples {
		s := &p.Samples[i]
		first := strings.ReplaceAll(foldedName(threadName(&p.Threads[s.Thread])), " ", "_") + ";"
		if several {
			first = foldedName(text(p.Events[s.Event])) + ";" + first
		}
		sums[line{first, f.of[stackOf(p, i)]}] += weight(s)
	}
	lines := sorting.Sorted(maps.Keys(sums), func(a, b line) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(f.nodes[a.node].rank, f.nodes[b.node].rank))
	})
	var names []string
	for _, l := range lines {
		names = names[:0]
		for node := l.node; node >= 0; node = f.nodes[node].caller {
			names = append(names, f.names[f.nodes[node].name])
		}
		_, _ = w.WriteString(l.first)
		for _, name := range slices.Backward(names[1:]) {
			_, _ = w.WriteString(name)
		}
		if _, err := fmt.Fprintf(w, "%s %d\n", strings.TrimSuffix(names[0], ";"), sums[l]); err != nil {
			return err
		}
	}
	return nil
}

// foldedStacks are the stacks as a tree, merged where only addresses and lines differ. All lines
// together may be much larger than that.
type foldedStacks struct {
	names []string // each once, with the semicolon after it
	nodes []foldedNode
	of    []int32 // node of each stack
	first int32   // of the outermost frames, -1 for none
}

// A foldedNode refers to others by their indexes, -1 for none.
type foldedNode struct {
	foldedKey
	callee, next int32 // the first one, and the caller's next one
	rank         int32 // in the order of lines
}

type foldedKey struct{ caller, name int32 }

func foldStacks(p *profile.Profile) *foldedStacks {
	f := &foldedStacks{of: make([]int32, len(p.Stacks)), first: -1}
	numbers := make(map[string]int32)
	names := make([][2]int32, len(p.Functions)) // of the function, and of it inlined
	for i := range p.Functions {
		name := foldedName(functionName(&p.Functions[i]))
		for k := range names[i] {
			full := name + suffix(k > 0, p.Functions[i].Kind) + ";"
			at, ok := numbers[full]
			if !ok {
				at = int32(len(f.names))
				numbers[full] = at
				f.names = append(f.names, full)
			}
			names[i][k] = at
		}
	}
	known := make(map[foldedKey]int32)
	for i, s := range p.Stacks { // callers come first
		frame := &p.Frames[s.Frame]
		k := foldedKey{-1, names[frame.Function][0]}
		if frame.Inlined {
			k.name = names[frame.Function][1]
		}
		siblings := &f.first
		if s.Caller >= 0 {
			k.caller = f.of[s.Caller]
			siblings = &f.nodes[k.caller].callee
		}
		at, ok := known[k]
		if !ok {
			at = int32(len(f.nodes))
			known[k] = at
			next := *siblings
			*siblings = at
			f.nodes = append(f.nodes, foldedNode{foldedKey: k, callee: -1, next: next})
		}
		f.of[i] = at
	}
	f.number(f.first, 0)
	return f
}

// number ranks a node, its siblings and those below, from a rank on, and returns the next rank. A line may
// end with a name, or go on after its semicolon: others may come between the two.
func (f *foldedStacks) number(node, rank int32) int32 {
	type part struct {
		text  string
		node  int32
		below bool
	}
	var parts []part
	for ; node >= 0; node = f.nodes[node].next {
		name := f.names[f.nodes[node].name]
		parts = append(parts, part{name[:len(name)-1], node, false}, part{name, node, true})
	}
	sorting.By(parts, func(a, b part) int { return cmp.Compare(a.text, b.text) })
	for _, x := range parts {
		if x.below {
			rank = f.number(f.nodes[x.node].callee, rank)
			continue
		}
		f.nodes[x.node].rank = rank
		rank++
	}
	return rank
}

// suffix is FlameGraph's annotation of a frame.
func suffix(inlined bool, kind profile.Kind) string {
	switch {
	case inlined:
		return "_[i]"
	case kind == profile.Kernel:
		return "_[k]"
	case kind == profile.JIT:
		return "_[j]"
	}
	return ""
}

// foldedName is a name without what separates frames and lines. A number at its end loses the space
// before it: flamegraph.pl takes two numbers at the end of a line for those of two recordings.
func foldedName(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, name))
	if name == "" {
		return "[unknown]"
	}
	head := strings.TrimRight(name, "0123456789.")
	if len(head) == len(name) || !strings.HasSuffix(head, " ") {
		return name
	}
	return strings.TrimRight(head, " ") + "_" + name[len(head):]
}
