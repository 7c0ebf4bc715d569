package view

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A stackTree has the stacks of a profile, merged where only addresses differ.
type stackTree struct {
	nodes   []stackNode // parents before children
	of      []int       // node of each stack of the profile
	noStack int         // node of samples without a stack, -1 if there are none
	leftOut int         // function of frames that are not in the page, -1 if all are
	order   []int       // nodes in preorder
	place   []int       // of each node in order
}

type stackNode struct {
	parent, depth  int // -1 and 0 for the outermost frames
	function, line int
	inlined        bool
}

// nodes are the tree in preorder. A node is one level below the one before it, less Up.
type nodes struct {
	Up       []int `json:"up"`
	Function []int `json:"function"` // twice the index, plus one if inlined into its caller
	Line     []int `json:"line"`
}

// sampleSums are the samples, added up. The rows are in the order of nodes; Node has differences.
type sampleSums struct {
	Node   []int    `json:"node"`
	Thread []int    `json:"thread"`
	Event  []int    `json:"event"`
	Count  []int    `json:"count"`
	Period []uint64 `json:"period"`
}

// makeStackTree merges the stacks of p, whose functions have the indices of. The tree's own function
// for samples without a stack follows the last of these.
func makeStackTree(p *profile.Profile, of []int) *stackTree {
	t := &stackTree{of: make([]int, len(p.Stacks)), noStack: -1, leftOut: -1}
	index := make(map[stackNode]int)
	add := func(n stackNode) int {
		at, ok := index[n]
		if !ok {
			at = len(t.nodes)
			index[n] = at
			t.nodes = append(t.nodes, n)
		}
		return at
	}
	for i, s := range p.Stacks {
		f := &p.Frames[s.Frame]
		n := stackNode{parent: -1, function: of[f.Function], line: f.Line, inlined: f.Inlined}
		if s.Caller >= 0 {
			n.parent = t.of[s.Caller]
			n.depth = t.nodes[n.parent].depth + 1
		}
		t.of[i] = add(n)
	}
	if slices.ContainsFunc(p.Samples, func(s profile.Sample) bool { return s.Stack < 0 }) {
		none := 0
		if len(of) > 0 {
			none = slices.Max(of) + 1
		}
		t.noStack = add(stackNode{parent: -1, function: none})
	}
	return t
}

// sort puts the nodes in preorder.
func (t *stackTree) sort() {
	children := make([][]int, len(t.nodes)+1) // the last are those of no parent
	for i, n := range t.nodes {
		parent := n.parent
		if parent < 0 {
			parent = len(t.nodes)
		}
		children[parent] = append(children[parent], i)
	}
	t.place = make([]int, len(t.nodes))
	var waiting []int
	push := func(nodes []int) {
		for _, i := range slices.Backward(nodes) {
			waiting = append(waiting, i)
		}
	}
	push(children[len(t.nodes)])
	for len(waiting) > 0 {
		i := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		t.place[i] = len(t.order)
		t.order = append(t.order, i)
		push(children[i])
	}
}

func (t *stackTree) columns() nodes {
	c := nodes{Up: []int{}, Function: []int{}, Line: []int{}}
	below := 0
	for _, i := range t.order {
		n := t.nodes[i]
		c.Up = append(c.Up, below-n.depth)
		below = n.depth + 1
		function := 2 * n.function
		if n.inlined {
			function++
		}
		c.Function = append(c.Function, function)
		c.Line = append(c.Line, n.line)
	}
	return c
}

// node returns the place of a sample's node in preorder.
func (t *stackTree) node(s profile.Sample) int {
	if s.Stack < 0 {
		return t.place[t.noStack]
	}
	return t.place[t.of[s.Stack]]
}

func (t *stackTree) sums(p *profile.Profile) sampleSums {
	type row struct{ node, thread, event int }
	type sum struct {
		count  int
		period uint64
	}
	sums := make(map[row]sum)
	for _, s := range p.Samples {
		at := row{t.node(s), s.Thread, s.Event}
		old := sums[at]
		sums[at] = sum{old.count + 1, old.period + s.Period}
	}
	rows := make([]row, 0, len(sums))
	for at := range sums {
		rows = append(rows, at)
	}
	sorting.By(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.thread, b.thread), cmp.Compare(a.event, b.event))
	})
	c := sampleSums{Node: []int{}, Thread: []int{}, Event: []int{}, Count: []int{}, Period: []uint64{}}
	last := 0
	for _, at := range rows {
		c.Node = append(c.Node, at.node-last)
		last = at.node
		c.Thread = append(c.Thread, at.thread)
		c.Event = append(c.Event, at.event)
		c.Count = append(c.Count, sums[at].count)
		c.Period = append(c.Period, sums[at].period)
	}
	return c
}
