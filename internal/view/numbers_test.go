package view_test

import (
	"cmp"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/tier"
	"github.com/jitinject/jitinject/internal/view"
)

// The tests here compare the numbers of a page with those of perf report and perf annotate. They are
// equal under these rules:
//
//   - perf weighs samples by their periods.
//   - Without inlining, an inlined call is its caller: its samples count for the nearest caller that
//     is not inlined. perf's own self values are always so.
//   - perf has a line for each object and symbol, the page one for each function. Where a function has
//     several, self values add up. Totals do not: a sample may be in two of them.

// tolerance is the most that shares may differ, in percent. perf prints two digits after the point.
const tolerance = 0.1

// hottest is the number of functions and of lines that are compared.
const hottest = 20

// resultOf returns the path of a result of a recording of the test data.
func resultOf(t *testing.T, name string, bundle bool) string {
	t.Helper()
	dir := testrec.Place(t, name)
	for variable, value := range map[string]string{"HOME": dir, "PERF_CONFIG": "/dev/null", "DEBUGINFOD_URLS": ""} {
		t.Setenv(variable, value) // as testrec.Command has it: all perfs find the same files
	}
	out := filepath.Join(dir, "out.data")
	options := inject.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: filepath.Join(dir, "objects"), Bundle: bundle, Force: true}
	if name == "v8log-node25" {
		options.SideFiles = []inject.SideFile{{Kind: "v8log", Path: filepath.Join(dir, "v8.log")}}
	}
	if _, err := inject.Run(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	return out
}

// shares are a function's shares of an event's periods, in percent.
type shares struct{ self, total float64 }

// A functionName is what the page shows of a function: two functions with all of it alike are one in these
// tests.
type functionName struct {
	name string
	kind int
}

func nameOn(f *profile.Function) functionName {
	kind := int(f.Kind) // unknown, kernel, native, and JIT with the tiers
	if f.Kind == profile.JIT && f.Tier <= tier.Stub {
		kind += int(f.Tier)
	}
	name := f.Name
	if strings.TrimSpace(name) == "" {
		name = f.Symbol
	}
	return functionName{name, kind}
}

// A pageNode is a node of a page's stacks.
type pageNode struct {
	parent   int // -1 for the outermost
	function functionName
	file     string
	line     int
	inlined  bool
}

func (r run) tree(doc document) (nodes []pageNode) {
	var path []int
	depth := -1
	for i, up := range r.Nodes.Up {
		depth += 1 - up
		f := r.Nodes.Function[i] / 2
		n := pageNode{parent: -1, line: r.Nodes.Line[i], inlined: r.Nodes.Function[i]%2 == 1,
			function: functionName{doc.Texts[r.Functions.Name[f]], r.Functions.Kind[f]}, file: doc.Texts[r.Functions.File[f]]}
		if depth > 0 {
			n.parent = path[depth-1]
		}
		path = append(path[:depth], i)
		nodes = append(nodes, n)
	}
	return nodes
}

// own returns the periods of each node's samples of an event, and their sum.
func (r run) own(event int) (periods []float64, all float64) {
	periods = make([]float64, len(r.Nodes.Up))
	node := 0
	for i, difference := range r.Samples.Node {
		node += difference
		if r.Samples.Event[i] == event {
			periods[node] += float64(r.Samples.Period[i])
			all += float64(r.Samples.Period[i])
		}
	}
	return periods, all
}

// sharesOf returns the shares of all functions of an event, without or with those that were inlined.
func sharesOf(doc document, event int, withInlined bool) map[functionName]shares {
	r := doc.Runs[0]
	nodes := r.tree(doc)
	own, all := r.own(event)
	found := make(map[functionName]shares)
	for i, period := range own {
		if period == 0 {
			continue
		}
		share := 100 * period / all
		counted := make(map[functionName]bool)
		isInner := true
		for at := i; at >= 0; at = nodes[at].parent {
			n := &nodes[at]
			if n.inlined && !withInlined {
				continue
			}
			s := found[n.function]
			if isInner && !n.inlined {
				s.self += share
				isInner = false
			}
			if !counted[n.function] {
				counted[n.function] = true
				s.total += share
			}
			found[n.function] = s
		}
	}
	return found
}

// A perfRow is a line of perf report.
type perfRow struct {
	object, symbol string
	shares
}

// reportOf returns what perf report counts of each event, by the event's name without modifiers.
func reportOf(t *testing.T, perf, file, inline string) map[string][]perfRow {
	t.Helper()
	text := testrec.Run(t, filepath.Dir(file), perf, "report", "-f", "--stdio", "--children", inline, "-g", "none",
		"-F", "overhead_children,overhead,dso,sym", "-t", "\x1f", "-i", file)
	rows := make(map[string][]perfRow)
	event := ""
	for line := range strings.Lines(text) {
		if _, after, ok := strings.Cut(line, " of event '"); ok && strings.HasPrefix(line, "# Samples:") {
			event, _, _ = strings.Cut(after, "'")
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\x1f")
		if len(columns) != 4 || strings.HasPrefix(line, "#") {
			continue
		}
		row := perfRow{object: strings.TrimSpace(columns[2]), symbol: strings.TrimSuffix(strings.TrimRight(columns[3][len("[.] "):], " "), " (inlined)")}
		var err error
		if row.total, err = percentOf(columns[0]); err == nil {
			row.self, err = percentOf(columns[1])
		}
		if err != nil {
			t.Fatalf("perf report: %q: %v", line, err)
		}
		rows[event] = append(rows[event], row)
	}
	return rows
}

func percentOf(text string) (float64, error) {
	return strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
}

// rowsOfFunctions divides perf's rows by the functions of the page, without those of code that has no symbol.
func rowsOfFunctions(t *testing.T, p *profile.Profile, rows []perfRow) map[functionName][]perfRow {
	t.Helper()
	type symbolOf struct{ object, symbol string }
	names := make(map[symbolOf]functionName)
	for i := range p.Functions {
		f := &p.Functions[i]
		if f.Kind != profile.Unknown {
			names[symbolOf{filepath.Base(f.Object), f.Symbol}] = nameOn(f)
		}
	}
	of := make(map[functionName][]perfRow)
	for _, row := range rows {
		if strings.HasPrefix(row.symbol, "0x") || strings.Trim(row.symbol, "0") == "" {
			continue
		}
		name, ok := names[symbolOf{row.object, row.symbol}]
		if !ok {
			t.Errorf("perf report has %s of %s, the page does not", row.symbol, row.object)
			continue
		}
		of[name] = append(of[name], row)
	}
	return of
}

// sumOf returns the sums of rows. The true total of several is between the largest and the sum.
func sumOf(rows []perfRow) (sum shares, largest float64) {
	for _, row := range rows {
		sum.self += row.self
		sum.total += row.total
		largest = max(largest, row.total)
	}
	return sum, largest
}

// wantShares compares the hottest functions, by their self and by their total shares.
func wantShares(t *testing.T, got map[functionName]shares, rows map[functionName][]perfRow) (compared int) {
	t.Helper()
	for _, isSelf := range []bool{true, false} {
		names := slices.SortedFunc(maps.Keys(rows), func(a, b functionName) int {
			x, _ := sumOf(rows[a])
			y, _ := sumOf(rows[b])
			if isSelf {
				return cmp.Or(cmp.Compare(y.self, x.self), cmp.Compare(a.name, b.name))
			}
			return cmp.Or(cmp.Compare(y.total, x.total), cmp.Compare(a.name, b.name))
		})
		for _, name := range names[:min(hottest, len(names))] {
			sum, largest := sumOf(rows[name])
			at := got[name]
			rounding := tolerance * float64(len(rows[name]))
			if isSelf && math.Abs(at.self-sum.self) > rounding {
				t.Errorf("%s: got self %.2f %%; perf report has %.2f %%", name.name, at.self, sum.self)
			}
			if at.total < largest-tolerance || at.total > sum.total+rounding {
				t.Errorf("%s: got total %.2f %%; perf report has %.2f %% in %d rows", name.name, at.total, sum.total, len(rows[name]))
			}
			if len(rows[name]) == 1 {
				compared++
			}
		}
	}
	return compared
}

func TestNumbers_AsPerfReport(t *testing.T) {
	type result struct {
		name   string
		bundle bool
		least  int // functions with one row of perf
	}
	for _, c := range testrec.Few([]result{{"node-dwarf", true, 25}, {"node-fp", false, 25}, {"node25-workers", true, 25}, {"java-map", true, 30}, {"erlang", true, 30}, {"php", true, 25}, {"toyjit-dwarf", false, 8}, {"mono-calls", false, 10}}, 2) {
		t.Run(c.name, func(t *testing.T) {
			file := resultOf(t, c.name, c.bundle)
			for version, perf := range testrec.Perfs(t) {
				p, err := profile.Read(t.Context(), profile.Options{Perf: perf, Path: file, Force: true})
				if err != nil {
					t.Fatal(err)
				}
				doc := dataOf(t, write(t, p, view.Options{}))
				compared := 0
				reported := reportOf(t, perf, file, "--no-inline")
				for event, name := range p.Events {
					rows := rowsOfFunctions(t, p, reported[strings.TrimSuffix(name, ":")])
					compared += wantShares(t, sharesOf(doc, event, false), rows)
				}
				if compared < c.least {
					t.Errorf("perf %s: compared %d functions with one row each; want at least %d", version, compared, c.least)
				}
			}
		})
	}
}

// In copies of stacks, perf report has a row for an inlined call, too.
func TestNumbers_InlinedAsPerfReport(t *testing.T) {
	file := resultOf(t, "toyjit-dwarf", true)
	for version, perf := range testrec.Perfs(t) {
		p, err := profile.Read(t.Context(), profile.Options{Perf: perf, Path: file, Force: true})
		if err != nil {
			t.Fatal(err)
		}
		reported := slices.DeleteFunc(reportOf(t, perf, file, "--inline")[p.Events[0]], func(row perfRow) bool {
			return !strings.HasPrefix(row.object, "jitted-") // native code gets other names with inlining
		})
		rows := rowsOfFunctions(t, p, reported)
		inlined := 0
		for i := range p.Frames {
			f := &p.Functions[p.Frames[i].Function]
			if p.Frames[i].Inlined && len(rows[nameOn(f)]) > 0 {
				inlined++
			}
		}
		wantShares(t, sharesOf(dataOf(t, write(t, p, view.Options{})), 0, true), rows)
		if inlined < 5 {
			t.Errorf("perf %s: got %d places of inlined calls; want at least 5", version, inlined)
		}
	}
}

// At first, the page shows the same as perf report for the event with most samples: shares of its
// periods. Those of mono are nanoseconds, and differ.
func TestPageTable_AsPerfReport(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	for _, name := range []string{"mono-calls", "node-dwarf"} {
		file := resultOf(t, name, true)
		p, err := profile.Read(t.Context(), profile.Options{Perf: perf, Path: file, Force: true})
		if err != nil {
			t.Fatal(err)
		}
		b := open(t, p, view.Options{}, 1400, 900)
		event := eval[string](b, "return document.querySelector('#events').selectedOptions[0].text")
		event, _, _ = strings.Cut(event, " (")
		rows := make(map[string][]perfRow)
		for function, of := range rowsOfFunctions(t, p, reportOf(t, perf, file, "--no-inline")[event]) {
			rows[function.name] = append(rows[function.name], of...)
		}
		shown := eval[[][3]string](b, `return [...document.querySelectorAll("#table tbody tr")].map((row) =>
			[row.querySelector(".function").title, row.cells[0].innerText, row.cells[1].innerText])`)
		compared := 0
		for _, row := range shown[:min(hottest, len(shown))] {
			of := rows[row[0]]
			self, err := percentOf(row[1])
			if len(of) != 1 || err != nil {
				continue // functions of one name, or less than 0.01%
			}
			total, err := percentOf(row[2])
			if err != nil || math.Abs(self-of[0].self) > tolerance || math.Abs(total-of[0].total) > tolerance {
				t.Errorf("%s: got %s and %s; perf report has %.2f %% and %.2f %%", row[0], row[1], row[2], of[0].self, of[0].total)
			}
			compared++
		}
		if compared < 8 {
			t.Errorf("%s: compared %d of %d functions of %s; want at least 8", name, compared, len(shown), event)
		}
	}
}
