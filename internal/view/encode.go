package view

import (
	"cmp"
	"path/filepath"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/tier"
)

// A document is the data of a page. Texts in it are indices into Texts, but for those shown once.
type document struct {
	Title    string       `json:"title"`
	Texts    []string     `json:"texts"`
	Runs     []*run       `json:"runs"` // the profile, and the one to compare with
	Sources  []sourceFile `json:"sources"`
	Facts    []fact       `json:"facts"`
	Warnings []string     `json:"warnings"`
	Notes    []string     `json:"notes"` // about the page itself
}

// A run is a profile in columns.
type run struct {
	Events    []string   `json:"events"`
	Threads   threads    `json:"threads"`
	Functions functions  `json:"functions"`
	Nodes     nodes      `json:"nodes"`
	Samples   sampleSums `json:"samples"`
}

type threads struct {
	PID     []uint32 `json:"pid"`
	TID     []uint32 `json:"tid"`
	Process []int    `json:"process"` // texts
	Name    []int    `json:"name"`
}

type functions struct {
	Name   []int      `json:"name"` // texts
	Object []int      `json:"object"`
	File   []int      `json:"file"`
	Line   []int      `json:"line"`
	Kind   []category `json:"kind"`
}

// Functions that stand for others.
const (
	noStack = -1 // for samples without a stack
	leftOut = -2 // for frames that are not in the page
)

func columnsOf(p *profile.Profile, list []int, texts *textTable) functions {
	c := functions{Name: []int{}, Object: []int{}, File: []int{}, Line: []int{}, Kind: []category{}}
	for _, i := range list {
		var f profile.Function
		switch i {
		case noStack:
			f.Name = "[no stack]"
		case leftOut:
			f.Name = leftOutName
		default:
			f = p.Functions[i]
		}
		c.Name = append(c.Name, texts.add(f.Label()))
		c.Object = append(c.Object, texts.add(f.Object))
		c.File = append(c.File, texts.add(f.File))
		c.Line = append(c.Line, f.Line)
		c.Kind = append(c.Kind, categoryOf(f))
	}
	return c
}

// A category is a kind or a tier: what has a colour.
type category int

const (
	categoryUnknown category = iota
	categoryKernel
	categoryNative
	categoryJIT // of no known tier; the tiers follow, in the order of tier.Tier
)

func categoryOf(f profile.Function) category {
	switch {
	case f.Kind == profile.Kernel:
		return categoryKernel
	case f.Kind == profile.Native:
		return categoryNative
	case f.Kind == profile.JIT && f.Tier <= tier.Stub:
		return categoryJIT + category(f.Tier)
	}
	return categoryUnknown
}

// longestText is where texts are cut, in bytes. Names of C++ templates have some thousand bytes.
const longestText = 4096

// A textTable has each text once.
type textTable struct {
	index map[string]int
	texts []string
}

func newTextTable() *textTable {
	return &textTable{index: map[string]int{"": 0}, texts: []string{""}}
}

// add returns the index of s. Different texts have different indices, even if they are cut to the same.
func (t *textTable) add(s string) int {
	i, ok := t.index[s]
	if !ok {
		i = len(t.texts)
		t.index[s] = i
		t.texts = append(t.texts, shown(s))
	}
	return i
}

// shown returns s without what could deceive a reader, and not longer than longestText.
func shown(s string) string {
	if len(s) > longestText {
		end := longestText
		for end > longestText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "…"
	}
	return quote.Printable(s)
}

func encode(p *profile.Profile, o Options) *document {
	texts := newTextTable()
	main, tree, note := encodeRun(p, texts, o)
	doc := &document{Title: o.Title, Runs: []*run{main}, Sources: []sourceFile{}, Facts: facts(p), Warnings: []string{}, Notes: []string{}}
	if note != "" {
		doc.Notes = append(doc.Notes, note)
	}
	if doc.Title == "" {
		doc.Title = titleOf(p)
	}
	doc.Title = shown(doc.Title)
	for _, warning := range p.Recording.Warnings {
		doc.Warnings = append(doc.Warnings, shown(warning))
	}
	if o.Base != nil {
		base, _, note := encodeRun(o.Base, texts, o)
		if note != "" {
			doc.Notes = append(doc.Notes, "Of the other recording: "+note)
		}
		doc.Runs = append(doc.Runs, base)
		doc.Facts = append(doc.Facts, comparedWith(o.Base))
	}
	if o.Sources != nil {
		var notes []string
		doc.Sources, notes = embedSources(p, tree, texts, o)
		doc.Notes = append(doc.Notes, notes...)
	}
	doc.Texts = texts.texts
	return doc
}

// titleOf returns the name of the process with most samples.
func titleOf(p *profile.Profile) string {
	count := make(map[uint32]int)
	best, name := 0, ""
	for _, s := range p.Samples {
		thread := p.Threads[s.Thread]
		count[thread.PID]++
		if count[thread.PID] > best {
			best, name = count[thread.PID], thread.Process
		}
	}
	if name == "" && p.Recording.Path != "" {
		name = filepath.Base(p.Recording.Path)
	}
	if name == "" {
		name = "profile"
	}
	return name
}

// encodeRun returns p in columns, and the tree of its stacks. note says what is left out, "" for nothing.
func encodeRun(p *profile.Profile, texts *textTable, o Options) (r *run, tree *stackTree, note string) {
	r = &run{Events: []string{}}
	for _, event := range p.Events {
		r.Events = append(r.Events, shown(event))
	}
	r.Threads = threads{PID: []uint32{}, TID: []uint32{}, Process: []int{}, Name: []int{}}
	for _, t := range p.Threads {
		r.Threads.PID = append(r.Threads.PID, t.PID)
		r.Threads.TID = append(r.Threads.TID, t.TID)
		r.Threads.Process = append(r.Threads.Process, texts.add(t.Process))
		r.Threads.Name = append(r.Threads.Name, texts.add(t.Name))
	}
	merged := p.Merge(true)
	first := append(merged.First, noStack)
	tree = makeStackTree(p, merged.Of)
	if note = tree.prune(p, cmp.Or(o.NodeLimit, defaultNodeLimit), len(first)); note != "" {
		first = append(first, leftOut)
	}
	tree.sort()
	r.Functions = columnsOf(p, first, texts)
	r.Nodes = tree.columns()
	r.Samples = tree.sums(p)
	return r, tree, note
}
