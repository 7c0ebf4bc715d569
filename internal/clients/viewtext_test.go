package clients

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Text that perf shows, without what depends on the file in which a function is: the file's name and
// addresses in it.

var (
	// An object's name, and an address in it. perf shows FILE[ADDRESS] for code without a line.
	shownObject = regexp.MustCompile(`[^\s(;]*jit(?:ted|bundle)-[-0-9a-fx]+\.so(?:\[[0-9a-f]+\])?`)
	// A frame's address, which perf 6.1 shows as one in the file.
	shownFrame = regexp.MustCompile(`(?m)^\s+[0-9a-f]+ (.*\((?:OBJECT|inlined)\))$`)

	shownSection = regexp.MustCompile(`(?m)^(?: Percent \||Sorted summary for file)`)
	shownRule    = regexp.MustCompile(`-{10,}`)
	shownInsn    = regexp.MustCompile(`(?m)^\s*[0-9.]+ :\s+([0-9a-f]+):`)
	shownAddress = regexp.MustCompile(`: [0-9a-f]+: `)
	shownLabel   = regexp.MustCompile(`(?:[0-9a-f]{8}){1,2} <(.*)>:`)
	shownTarget  = regexp.MustCompile(`\b(?:0x)?[0-9a-f]+ <(.*?)(?:\+0x([0-9a-f]+))?>$`)
	shownFar     = regexp.MustCompile(`-?0x[0-9a-f]+\(%rip\)`)
	// perf annotate -l adds lines to instructions, but not one that it has just added to another
	// function. Its summary has them all.
	shownLine = regexp.MustCompile(` // \S+$`)
)

// samplesOfScript returns what perf script shows of each sample.
func samplesOfScript(out string) []string {
	out = shownObject.ReplaceAllString(out, "OBJECT")
	return strings.Split(shownFrame.ReplaceAllString(out, "$1"), "\n\n")
}

// jittedSamples is samplesOfScript with the frames of jitted functions only. Lines of other
// frames are in other files.
func jittedSamples(out string) (samples []string) {
	for _, sample := range samplesOfScript(out) {
		head, rest, _ := strings.Cut(sample, "\n")
		kept := []string{head}
		var frame []string // with calls inlined into it, and their lines
		host := ""
		end := func() {
			if strings.HasSuffix(host, "(OBJECT)") {
				kept = append(kept, frame...)
			}
			frame, host = nil, ""
		}
		for line := range strings.Lines(rest) {
			line = strings.TrimSpace(line)
			if strings.HasSuffix(line, ")") && strings.Contains(line, " (") {
				if host != "" && !strings.HasSuffix(host, "(inlined)") {
					end()
				}
				host = line
			}
			frame = append(frame, line)
		}
		end()
		samples = append(samples, strings.Join(kept, "\n"))
	}
	return samples
}

// jittedLines returns the sampled addresses in jitted functions, with their lines, from perf script
// without callchains.
func jittedLines(out string) (samples []string) {
	for line := range strings.Lines(shownObject.ReplaceAllString(out, "OBJECT")) {
		if line = strings.TrimSpace(line); strings.HasSuffix(line, ")") || len(samples) == 0 {
			samples = append(samples, line)
		} else {
			samples[len(samples)-1] += "\n" + line
		}
	}
	return slices.DeleteFunc(samples, func(s string) bool { return !strings.Contains(s, "(OBJECT)") })
}

// entriesOfReport returns the entries of perf report or perf diff. perf sorts equal ones by their
// files.
func entriesOfReport(out string) (entries []string) {
	out = shownObject.ReplaceAllString(out, "OBJECT")
	for line := range strings.Lines(out) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && line[0] != '#' {
			entries = append(entries, line)
		}
	}
	slices.Sort(entries)
	return entries
}

// shownNumber is a percentage or a number of samples before an entry's name.
var shownNumber = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+%|$)`)

// filesOfReport is entriesOfReport for views with an entry for each file and function. Entries of
// several objects with one name are one entry of a bundle, so such entries are added up.
func filesOfReport(out string) (entries []string) {
	type sums struct {
		numbers []float64
		rows    int
	}
	all := make(map[string]*sums)
	for _, e := range entriesOfReport(out) {
		fields := strings.Fields(e)
		n := 0
		for n < len(fields) && shownNumber.MatchString(fields[n]) {
			n++
		}
		name := strings.Join(fields[n:], " ")
		if all[name] == nil {
			all[name] = &sums{numbers: make([]float64, n)}
		}
		for i := range min(n, len(all[name].numbers)) {
			v, _ := strconv.ParseFloat(strings.TrimSuffix(fields[i], "%"), 64)
			all[name].numbers[i] += v
		}
		all[name].rows++
	}
	for name, s := range all {
		text := ""
		for _, v := range s.numbers {
			text += fmt.Sprintf("%.2f%% ", v)
		}
		entries = append(entries, text+name)
	}
	slices.Sort(entries)
	return entries
}

// asRounded returns entries with the numbers of those of the same name in want, where they differ by less than perf's
// rounding of each row does: both lists have been added up by filesOfReport.
func asRounded(entries, want []string) []string {
	split := func(entry string) (numbers []float64, name string) {
		fields := strings.Fields(entry)
		for len(fields) > 0 && shownNumber.MatchString(fields[0]) {
			v, _ := strconv.ParseFloat(strings.TrimSuffix(fields[0], "%"), 64)
			numbers, fields = append(numbers, v), fields[1:]
		}
		return numbers, strings.Join(fields, " ")
	}
	byName := make(map[string]string)
	for _, e := range want {
		_, name := split(e)
		byName[name] = e
	}
	entries = slices.Clone(entries)
	for i, e := range entries {
		numbers, name := split(e)
		others, _ := split(byName[name])
		if slices.EqualFunc(numbers, others, func(a, b float64) bool { return math.Abs(a-b) < 0.05 }) && byName[name] != "" {
			entries[i] = byName[name]
		}
	}
	slices.Sort(entries)
	return entries
}

// jittedEntries is entriesOfReport with those of jitted functions only.
func jittedEntries(out string) []string {
	return slices.DeleteFunc(entriesOfReport(out), func(e string) bool { return !strings.Contains(e, "OBJECT") })
}

// functionsOfAnnotate returns what perf annotate shows of each function. Where a branch leaves the
// function, objdump names its target by the nearest function of the file.
func functionsOfAnnotate(out string) (functions []string) {
	out = shownRule.ReplaceAllString(shownObject.ReplaceAllString(out, "OBJECT"), "----")
	for _, part := range strings.Split(shownSection.ReplaceAllString(out, "\x00$0"), "\x00")[1:] {
		name := ""
		if m := shownLabel.FindStringSubmatch(part); m != nil {
			name = m[1]
		}
		lo, hi := ^uint64(0), uint64(0)
		for _, m := range shownInsn.FindAllStringSubmatch(part, -1) {
			addr, _ := strconv.ParseUint(m[1], 16, 64)
			lo, hi = min(lo, addr), max(hi, addr)
		}
		own := func(shown string) string {
			m := shownTarget.FindStringSubmatch(shown)
			offset, _ := strconv.ParseUint(cmp.Or(m[2], "0"), 16, 64)
			if m[1] != name || offset > hi-lo {
				return "ELSEWHERE"
			}
			return "<+" + m[2] + ">"
		}
		var lines []string
		for line := range strings.Lines(part) {
			line = strings.Join(strings.Fields(line), " ")
			line = shownLabel.ReplaceAllString(shownLine.ReplaceAllString(line, ""), "<$1>:")
			line = shownAddress.ReplaceAllString(shownTarget.ReplaceAllStringFunc(line, own), ": ")
			lines = append(lines, shownFar.ReplaceAllString(line, "FAR"))
		}
		functions = append(functions, strings.TrimSpace(strings.Join(lines, "\n"))) // the last part ends otherwise
	}
	slices.Sort(functions)
	return functions
}

// sameParts compares the parts of two views. Those of scripts are in the order of their times.
func sameParts(t *testing.T, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	left := make(map[string]int)
	for _, part := range want {
		left[part]++
	}
	var more, less []string
	for _, part := range got {
		if left[part]--; left[part] < 0 {
			more = append(more, part)
		}
	}
	for _, part := range want {
		if left[part] > 0 {
			left[part]--
			less = append(less, part)
		}
	}
	t.Errorf("%s: got %d parts with bundles, %d of them are others; want %d, of which %d lack\nothers: %.2000q\nlacking: %.2000q",
		what, len(got), len(more), len(want), len(less), more[:min(len(more), 3)], less[:min(len(less), 3)])
}

// Comparisons see each kind of difference that they should, and none that they should not.
func TestViewText_KeepsWhatMatters(t *testing.T) {
	const annotated = " Percent |\tDisassembly of jitted-1-2.so for x\n 0000000000000080 <f>:\n 1.00 :  80: jne 84 <f+0x4>\n 0.00 :  84: jmp 20 <g+0x20>\n"
	for _, c := range []struct {
		parse    func(string) []string
		a, b     string
		wantSame bool
	}{
		{samplesOfScript, "c 1:\n\t e5 f+0x65 (/o/jitted-1-2.so)", "c 1:\n\t b15 f+0x65 (/o/jitted-1-4700000000000000000.so)", true},
		{samplesOfScript, "c 1:\n\t e5 f+0x65 (/o/jitted-1-2.so)", "c 1:\n\t e5 f+0x66 (/o/jitted-1-2.so)", false},
		{samplesOfScript, "c 1:\n\t e5 f+0x65 (/o/jitted-1-2.so)", "c 1:\n\t e5 f+0x65 (/usr/bin/node)", false},
		{jittedSamples, "c 1:\n\t e5 f+0x65 (/o/jitted-1-2.so)\n  a.js:3\n\t 7 m+0x1 (/n)\n  n.c:1", "c 1:\n\t 5 f+0x65 (/o/jitted-1-2.so)\n  a.js:3\n\t 7 m+0x1 (/n)\n  n.c:2", true},
		{jittedSamples, "c 1:\n\t e5 f+0x65 (/o/jitted-1-2.so)\n  a.js:3", "c 1:\n\t e5 f+0x65 (/o/jitted-1-2.so)\n  a.js:4", false},
		{jittedSamples, "c 1:\n\t e5 i (inlined)\n  a.js:9\n\t e5 f+0x65 (/o/jitted-1-2.so)\n  a.js:3", "c 1:\n\t e5 f+0x65 (/o/jitted-1-2.so)\n  a.js:3", false},
		{jittedLines, "c 1: e5 f+0x65 (/o/jitted-1-2.so)\n  a.js:3\nc 2: 7 m (/n)\n  n.c:1", "c 1: e5 f+0x65 (/o/jitted-1-4700000000000000000.so)\n  a.js:3", true},
		{jittedLines, "c 1: e5 f+0x65 (/o/jitted-1-2.so)\n  a.js:3", "c 1: e5 f+0x65 (/o/jitted-1-2.so)\n  a.js:4", false},
		{jittedEntries, "1% 2 jitted-1-2.so [.] f a.js:3", "1% 2 jitted-1-4700000000000000000.so [.] f a.js:3\n1% 1 node [.] m", true},
		{jittedEntries, "1% 2 jitted-1-2.so [.] f a.js:3", "1% 3 jitted-1-4700000000000000000.so [.] f a.js:3", false},
		{filesOfReport, "3.20% +0.00% node jitted-1-2.so [.] f\n91.71% +0.00% node jitted-1-3.so [.] f", "94.91% +0.00% node jitted-1-4700000000000000000.so [.] f", true},
		{filesOfReport, "3.20% +0.00% node jitted-1-2.so [.] f\n91.71% +0.00% node jitted-1-3.so [.] f", "93.91% +0.00% node jitted-1-4700000000000000000.so [.] f", false},
		{filesOfReport, "0.10% 0.00% 0 jitted-1-2.so [.] g (inlined)", "0.10% 0.00% 0 jitted-1-4700000000000000000.so [.] h (inlined)", false},
		{functionsOfAnnotate, annotated, " Percent |\tDisassembly of jitted-1-4700000000000000000.so for x\n 0000000000000480 <f>:\n 1.00 :  480: jne 484 <f+0x4>\n 0.00 :  484: jmp 900 <h+0x2>\n", true},
		{functionsOfAnnotate, strings.Replace(annotated, "<g+0x20>", "<a.B.<init>(I)V+0x20>", 1), annotated, true},
		{functionsOfAnnotate, annotated, strings.Replace(annotated, "<f+0x4>", "<f+0x0>", 1), false},
		{functionsOfAnnotate, annotated, strings.Replace(annotated, "1.00 :", "2.00 :", 1), false},
	} {
		if a, b := c.parse(c.a), c.parse(c.b); slices.Equal(a, b) != c.wantSame {
			t.Errorf("got %q and %q; want them to be the same: %v", a, b, c.wantSame)
		}
	}
}
