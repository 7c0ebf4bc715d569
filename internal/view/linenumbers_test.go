package view_test

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/view"
)

// perf gives each instruction the innermost line there: that of the inlined call. So does the page, which
// counts a line where samples were taken.
//
// perf report -F srcline counts lines exactly. perf annotate does not: it leaves out instructions with at
// most 0.5 % of a symbol. It shows shares of one symbol, which are multiplied with the symbol's samples
// here. Neither
// reads names of files with a colon.

// A lineCount is the number of samples of a line, in a range.
type lineCount struct{ least, most float64 }

// annotatedLine matches a line of the summary of perf annotate -l.
var annotatedLine = regexp.MustCompile(`^ +(\d+\.\d+) +([^\s:].*:\d+)$`)

// annotatedSymbol matches what perf annotate prints after the summary.
var annotatedSymbol = regexp.MustCompile(`^ Percent .* for \S+ \((\d+) samples, percent: local period\)$`)

// unknownLine is what perf prints for an instruction without a line.
const unknownLine = "??:0"

// withColon begins the name of a recorded file, up to the colon.
const withColon = "/odd names:"

// annotated returns the samples of each line of jitted functions, as "FILE:LINE", by perf annotate.
func annotated(t *testing.T, perf, file string, objects []string) map[string]lineCount {
	t.Helper()
	args := []string{"annotate", "-f", "--stdio", "-l", "-P", "-i", file, "-d", strings.Join(objects, ",")}
	if strings.HasPrefix(testrec.Run(t, filepath.Dir(file), perf, "--version"), "perf version 6.12.") {
		args = append(args, "--asm-raw") // it crashes without
	}
	counts := make(map[string]lineCount)
	shares := make(map[string]float64) // of the symbol whose summary was read
	for line := range strings.Lines(testrec.Run(t, filepath.Dir(file), perf, args...)) {
		line = strings.TrimRight(line, " \n")
		if m := annotatedLine.FindStringSubmatch(line); m != nil {
			shares[filepath.Clean(m[2])] += number(t, m[1]) // Erlang's are ././lists.erl
		} else if m := annotatedSymbol.FindStringSubmatch(line); m != nil {
			all, leftOut := number(t, m[1]), 100.0
			for _, share := range shares {
				leftOut -= share
			}
			for place, share := range shares {
				c := counts[place]
				counts[place] = lineCount{c.least + share/100*all, c.most + (share+leftOut)/100*all}
			}
			clear(shares)
		}
	}
	maps.DeleteFunc(counts, func(place string, _ lineCount) bool {
		return place == unknownLine || strings.Contains(place, withColon)
	})
	return counts
}

// reported returns the samples of each line of jitted functions, as "NAME:LINE", by perf report.
func reported(t *testing.T, perf, file string) map[string]lineCount {
	t.Helper()
	text := testrec.Run(t, filepath.Dir(file), perf, "report", "-f", "--stdio", "--no-children", "--no-inline", "-g", "none",
		"-F", "sample,dso,srcline", "-t", "\x1f", "-i", file)
	counts := make(map[string]lineCount)
	for line := range strings.Lines(text) {
		columns := strings.Split(strings.TrimSpace(line), "\x1f")
		if len(columns) != 3 || !strings.HasPrefix(columns[1], "jitted-") || columns[2] == unknownLine {
			continue
		}
		n := number(t, strings.TrimSpace(columns[0]))
		counts[columns[2]] = lineCount{counts[columns[2]].least + n, counts[columns[2]].most + n}
	}
	return counts
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("perf: %v", err)
	}
	return n
}

// linesOf returns the samples of each line, under its path or its file's name, and the number of all.
func linesOf(doc document, shortened bool) (counts map[string]float64, all float64) {
	r := doc.Runs[0]
	nodes := r.tree(doc)
	counts = make(map[string]float64)
	node := 0
	for i, difference := range r.Samples.Node {
		node += difference
		n := float64(r.Samples.Count[i])
		all += n
		if nodes[node].line == 0 {
			continue
		}
		file := nodes[node].file
		if shortened {
			file = filepath.Base(file)
		}
		counts[filepath.Clean(fmt.Sprintf("%s:%d", file, nodes[node].line))] += n
	}
	return counts, all
}

// wantLines compares the hottest lines.
func wantLines(t *testing.T, got map[string]float64, all float64, want map[string]lineCount) (compared int) {
	t.Helper()
	places := slices.SortedFunc(maps.Keys(want), func(a, b string) int {
		return cmp.Or(cmp.Compare(want[b].least, want[a].least), strings.Compare(a, b))
	})
	places = places[:min(hottest, len(places))]
	for _, place := range places {
		least, most := 100*want[place].least/all, 100*want[place].most/all
		if share := 100 * got[place] / all; share < least-tolerance || share > most+tolerance {
			t.Errorf("%s: got %.2f %% of samples; perf has %.2f to %.2f %%", place, share, least, most)
		}
	}
	return len(places)
}

func TestLineNumbers_AsPerf(t *testing.T) {
	for _, c := range []struct {
		name     string
		bundle   bool
		reported bool // perf report -F srcline takes a minute for a large program
		least    int  // lines
	}{
		{"node-dwarf", true, false, 4}, {"node-fp", false, false, 4}, {"v8log-node25", true, false, 7},
		{"erlang", true, true, 9}, {"toyjit-dwarf", false, true, 15}, {"lli-hot", false, true, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			testrec.Tool(t, "objdump")
			testrec.Tool(t, "addr2line")
			file := resultOf(t, c.name, c.bundle)
			for version, perf := range testrec.Perfs(t) {
				p, err := profile.Read(t.Context(), profile.Options{Perf: perf, Path: file, Force: true})
				if err != nil {
					t.Fatal(err)
				}
				objects := make(map[string]bool)
				for i := range p.Functions {
					if f := &p.Functions[i]; f.Kind == profile.JIT {
						objects[filepath.Base(f.Object)] = true
					}
				}
				doc := dataOf(t, write(t, p, view.Options{}))
				got, all := linesOf(doc, false)
				if n := wantLines(t, got, all, annotated(t, perf, file, slices.Sorted(maps.Keys(objects)))); n < c.least {
					t.Errorf("perf %s: compared %d lines of perf annotate; want at least %d", version, n, c.least)
				}
				if !c.reported {
					continue
				}
				got, all = linesOf(doc, true)
				if n := wantLines(t, got, all, reported(t, perf, file)); n < c.least {
					t.Errorf("perf %s: compared %d lines of perf report; want at least %d", version, n, c.least)
				}
			}
		})
	}
}
