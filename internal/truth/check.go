package truth

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/judge"
)

// An Answer counts the answers of one tool for one function's samples.
type Answer struct {
	Right int // the marked line
	Wrong int // another line
	None  int // no line
	// Inner counts samples in an inlined call named by the mark: those with a frame for it in
	// their answer, and all. Without a frame, a sample may be in code that the compiler made
	// without inlining, or beside the call; at the marked line it cannot: Bare counts these.
	Inner, InnerAll, Bare int
	Instead               map[string]int // wrong answers, FILE:LINE, and their numbers
}

// A Verdict is the result for one function.
type Verdict struct {
	Mark    *Mark
	Samples int                // samples in the function itself, not in its callees
	Answers map[string]*Answer // by the name of the tool
}

// Lines reports whether a tool shows the marked line. One in ten answers with a line may be
// another, for the function's beginning and end.
func (a *Answer) Lines() bool { return a.Right > 0 && a.Wrong*9 <= a.Right }

// String summarizes the answers of a tool.
func (a *Answer) String() string {
	text := fmt.Sprintf("%d right, %d wrong, %d without a line", a.Right, a.Wrong, a.None)
	if len(a.Instead) > 0 {
		most := ""
		for place, n := range a.Instead {
			if most == "" || n > a.Instead[most] || n == a.Instead[most] && place < most {
				most = place
			}
		}
		text += fmt.Sprintf(" (%d at %s)", a.Instead[most], most)
	}
	return text
}

// A leaf is the own function of samples: an address of an object.
type leaf struct {
	object, symbol string
	offset         uint64
	printed        uint64 // the address as perf prints it
}

// Check judges the samples of a recording, as judge.Script returns them, with tools. The
// mappings are those of judge.Mappings; without them, it may fail for two functions of one
// name in an object. The verdicts are in the order of the marks. If a tool fails, the error
// names it and the object.
func Check(ctx context.Context, marks []Mark, samples []judge.Sample, mappings []judge.Mapping, tools []Tool) ([]Verdict, error) {
	verdicts := make([]Verdict, len(marks))
	index := make(map[*Mark]*Verdict)
	for i := range marks {
		verdicts[i] = Verdict{Mark: &marks[i], Answers: make(map[string]*Answer)}
		index[&marks[i]] = &verdicts[i]
	}
	counts := make(map[leaf]int)
	for i := range samples {
		if len(samples[i].Frames) == 0 {
			continue
		}
		f := &samples[i].Frames[0]
		if m, _ := find(marks, f.Symbol); m != nil && f.Jitted() {
			index[m].Samples++
			counts[leaf{f.DSO, f.Symbol, f.Offset, f.Addr}]++
		}
	}
	objects := make(map[string][]leaf)
	for l := range counts {
		objects[l.object] = append(objects[l.object], l)
	}
	for object, leaves := range objects {
		addresses, err := addressesOf(object, leaves, mappings)
		if err != nil {
			return verdicts, err
		}
		for i := range tools {
			places, err := tools[i].Places(ctx, object, addresses)
			if err != nil {
				return verdicts, err
			}
			for j, l := range leaves {
				m, n := find(marks, l.symbol)
				index[m].answer(tools[i].Name).add(m, n, places[j], counts[l])
			}
		}
	}
	return verdicts, nil
}

// Symbols returns the symbols of marked functions with samples, sorted.
func Symbols(marks []Mark, samples []judge.Sample) []string {
	seen := make(map[string]bool)
	for i := range samples {
		if len(samples[i].Frames) == 0 || !samples[i].Frames[0].Jitted() {
			continue
		}
		symbol := samples[i].Frames[0].Symbol
		if m, _ := find(marks, symbol); m != nil {
			seen[symbol] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// CheckLines adds the result of judge.Lines to the verdicts, as answers of a tool of that
// name.
func CheckLines(verdicts []Verdict, marks []Mark, samples []judge.Sample, tool string) {
	for i := range samples {
		if len(samples[i].Frames) == 0 || !samples[i].Frames[0].Jitted() {
			continue
		}
		f := &samples[i].Frames[0]
		m, _ := find(marks, f.Symbol)
		for j := range verdicts {
			if verdicts[j].Mark == m && m != nil {
				verdicts[j].answer(tool).add(m, nil, []Place{parsePlace(f.Line)}, 1)
			}
		}
	}
}

// answer returns the answers of a tool.
func (v *Verdict) answer(tool string) *Answer {
	a := v.Answers[tool]
	if a == nil {
		a = &Answer{Instead: make(map[string]int)}
		v.Answers[tool] = a
	}
	return a
}

// add counts n samples at the same address.
func (a *Answer) add(m *Mark, function *Name, places []Place, n int) {
	if function != nil && function.Inner != "" {
		a.InnerAll += n
		if len(places) > 1 && hasWord(places[0].Function, function.Inner) {
			a.Inner += n
		} else if len(places) > 0 && places[0].File == m.File && places[0].Line == m.Line {
			a.Bare += n
		}
	}
	switch {
	case len(places) == 0 || places[0].Line == 0:
		a.None += n
	case places[0].File == m.File && places[0].Line == m.Line:
		a.Right += n
	default:
		a.Wrong += n
		a.Instead[fmt.Sprintf("%s:%d", places[0].File, places[0].Line)] += n
	}
}

// A Total is a sum of verdicts.
type Total struct {
	Functions int // marked functions
	Seen      int // functions named in samples of objects
	Lines     int // functions with lines that all tools show
	Right     int // right answers of all tools
	Wrong     int
	None      int
	Inner     int // answers with a frame for the inlined call
	InnerAll  int // answers that should have one
	Bare      int // answers with the line of the inlined call, and no frame for it
}

// Sum adds verdicts up. A function is seen if it has at least the given number of samples.
func Sum(verdicts []Verdict, least int) (t Total) {
	for i := range verdicts {
		v := &verdicts[i]
		t.Functions++
		if v.Samples < least {
			continue
		}
		t.Seen++
		good := len(v.Answers) > 0
		for _, a := range v.Answers {
			t.Right, t.Wrong, t.None = t.Right+a.Right, t.Wrong+a.Wrong, t.None+a.None
			t.Inner, t.InnerAll, t.Bare = t.Inner+a.Inner, t.InnerAll+a.InnerAll, t.Bare+a.Bare
			good = good && a.Lines()
		}
		if good {
			t.Lines++
		}
	}
	return t
}

// Failures describes problems, one a line: functions without samples, and, with lines,
// each tool that does not show a function's line. It names tools with the same answers
// together.
func Failures(verdicts []Verdict, least int, lines bool) (all []string) {
	if t := Sum(verdicts, least); lines && t.Seen > 0 && t.Right+t.Wrong == 0 {
		all, lines = append(all, "no tool shows a line of any function"), false
	}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Samples < least {
			all = append(all, fmt.Sprintf("%v (%s:%d): %d samples have its name, at least %d were expected", v.Mark, v.Mark.File, v.Mark.Line, v.Samples, least))
			continue
		}
		says := make(map[string][]string)
		for _, tool := range slices.Sorted(maps.Keys(v.Answers)) {
			if a := v.Answers[tool]; lines && !a.Lines() {
				says[a.String()] = append(says[a.String()], tool)
			}
		}
		for _, answer := range slices.Sorted(maps.Keys(says)) {
			tools := strings.Join(says[answer], ", ")
			if len(says[answer]) == len(v.Answers) {
				tools = "all tools"
			}
			all = append(all, fmt.Sprintf("%v (%s:%d), %d samples: %s: %s", v.Mark, v.Mark.File, v.Mark.Line, v.Samples, tools, answer))
		}
	}
	return all
}
