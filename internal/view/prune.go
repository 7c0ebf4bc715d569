package view

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/words"
)

// defaultNodeLimit is the most nodes of a page. A page of as many has some 10 MB.
const defaultNodeLimit = 500_000

// leftOutName is the function of frames that are not in the page.
const leftOutName = "[left out]"

// totals returns the samples of each node: each sample counts for its frame and for all callers.
func (t *stackTree) totals(p *profile.Profile) []int {
	total := make([]int, len(t.nodes))
	for _, s := range p.Samples {
		if s.Stack >= 0 {
			total[t.of[s.Stack]]++
		} else {
			total[t.noStack]++
		}
	}
	for i, n := range slices.Backward(t.nodes) {
		if n.parent >= 0 {
			total[n.parent] += total[i]
		}
	}
	return total
}

// prune leaves out the nodes with fewest samples, until there are at most limit and as many again for
// what is left out below them. Callers have no fewer samples than what they call, so whole ends of
// stacks are left out. Their samples become those of the function leftOut below the last caller that
// stays. So the shares of that are right. note says in a sentence what was left out, "" for nothing.
func (t *stackTree) prune(p *profile.Profile, limit, leftOut int) (note string) {
	if len(t.nodes) <= limit {
		return ""
	}
	total := t.totals(p)
	descending := slices.Clone(total)
	slices.Sort(descending)
	slices.Reverse(descending)
	least := descending[limit] + 1 // with which nodes stay
	t.leftOut = leftOut
	nodes := make([]stackNode, 0, 2*limit)
	place := make([]int, len(t.nodes))
	rests := make(map[int]int)  // of callers that stay: the node of what is left out below
	for i, n := range t.nodes { // parents before children
		if n.parent >= 0 {
			n.parent = place[n.parent]
		}
		if n.parent >= 0 && nodes[n.parent].function == leftOut {
			place[i] = n.parent
			continue
		}
		if total[i] < least && i != t.noStack {
			rest, ok := rests[n.parent]
			if ok {
				place[i] = rest
				continue
			}
			rests[n.parent] = len(nodes)
			n = stackNode{parent: n.parent, depth: n.depth, function: leftOut}
		}
		place[i] = len(nodes)
		nodes = append(nodes, n)
	}
	for i := range t.of {
		t.of[i] = place[t.of[i]]
	}
	if t.noStack >= 0 {
		t.noStack = place[t.noStack]
	}
	t.nodes = nodes
	return t.describeLeftOut(p)
}

func (t *stackTree) describeLeftOut(p *profile.Profile) string {
	samples := 0
	cut := make(map[int]bool) // stacks of samples
	all := make(map[int]bool)
	for _, s := range p.Samples {
		if s.Stack < 0 {
			continue
		}
		all[s.Stack] = true
		if t.nodes[t.of[s.Stack]].function == t.leftOut {
			samples++
			cut[s.Stack] = true
		}
	}
	return fmt.Sprintf("The inner ends of %s of %s different stacks are left out, those with fewest samples: %s of samples. Their frames are %s, and count for their callers only.",
		words.Number(int64(len(cut))), words.Number(int64(len(all))), percent(samples, len(p.Samples)), leftOutName)
}
