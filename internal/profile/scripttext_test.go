package profile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// readAll reads a text of perf script, as one line for each sample: its frames follow after |.
func readAll(text string, d dialect, events ...string) (samples []string, unreadable int) {
	r := newScriptReader(bufio.NewReaderSize(strings.NewReader(text), 16), d, events)
	for {
		s, err := r.next()
		if err != nil {
			if err != io.EOF {
				samples = append(samples, err.Error())
			}
			return samples, r.unreadable
		}
		line := fmt.Sprintf("%d/%d %d %d %s", int32(s.pid), int32(s.tid), s.time, s.period, s.event)
		if s.head != nil {
			line += "|" + string(s.head)
		}
		for _, f := range s.frames {
			line += "|" + string(f)
		}
		samples = append(samples, line)
	}
}

func TestScriptReader_Samples(t *testing.T) {
	timed := dialect{time: true}
	for _, c := range []struct {
		name, text string
		dialect    dialect
		events     []string
		want       []string
		unreadable int
	}{
		{name: "perf 6.1 with callers", text: "28935/28935  2441.974530055:     250000 cpu-clock:ppp: \n\t           8d0c9 runtime.memmove+0x169 (/bin/jitinject)\n\t           279a5 a+0xe5 (/bin/jitinject)\n\n28935/28936  2441.974770012:     250000 cpu-clock:ppp: \n\t            2bca b+0xa (/bin/jitinject)\n\n",
			dialect: timed, want: []string{
				"28935/28935 2441974530055 250000 cpu-clock:ppp|8d0c9 runtime.memmove+0x169 (/bin/jitinject)|279a5 a+0xe5 (/bin/jitinject)",
				"28935/28936 2441974770012 250000 cpu-clock:ppp|2bca b+0xa (/bin/jitinject)"}},
		{name: "without callers, events aligned", text: "  20590/20590    2720.000141038:          1 page-faults:  ffffffff81752b6a elf_load+0x28a ([kernel.kallsyms])\n  20590/20590    2720.000201037:         11   cpu-clock:      7fa04dfadb70 _start+0x0 (/lib/ld.so)\n",
			dialect: timed, want: []string{
				"20590/20590 2720000141038 1 page-faults|ffffffff81752b6a elf_load+0x28a ([kernel.kallsyms])",
				"20590/20590 2720000201037 11 cpu-clock|7fa04dfadb70 _start+0x0 (/lib/ld.so)"}},
		{name: "unknown thread, no frames", text: "   -1/-1       1.000000001:  1 cycles:u: \n\n", dialect: timed, want: []string{"-1/-1 1000000001 1 cycles:u"}},
		{name: "microseconds", text: "1/1 1.000002: 1 cycles: \n", dialect: timed, want: []string{"1/1 1000002000 1 cycles"}},
		{name: "no times", text: "1/1  250000 cpu-clock:  7f00 f+0x1 (/a)\n", want: []string{"1/1 0 250000 cpu-clock|7f00 f+0x1 (/a)"}},
		{name: "newline in a symbol", text: "1/1 1.000000000: 1 cycles: \n\t 10 RegExp:a\nb\n\nc+0x1 (/a)\n\t 20 f+0x2 (/b)\n\n2/2 1.000000000: 1 cycles: \n", dialect: timed,
			want: []string{"1/1 1000000000 1 cycles|10 RegExp:a\nb\n\nc+0x1 (/a)|20 f+0x2 (/b)", "2/2 1000000000 1 cycles"}},
		{name: "newline in the only frame", text: "1/1 1.000000000: 1 cycles: 10 a\nb+0x1 (/a)\n", dialect: timed, want: []string{"1/1 1000000000 1 cycles|10 a\nb+0x1 (/a)"}},
		{name: "event with a space and a colon", text: "1/1 1.000000000: 1 my event: 2: \n\t 10 f+0x1 (/a)\n", dialect: timed, events: []string{"my event: 2", "my event"},
			want: []string{"1/1 1000000000 1 my event: 2|10 f+0x1 (/a)"}},
		{name: "no newline at the end", text: "1/1 1.000000000: 1 cycles: \n\t 10 f+0x1 (/a)", dialect: timed, want: []string{"1/1 1000000000 1 cycles|10 f+0x1 (/a)"}},
		{name: "something else first", text: "a warning\n\t 10 f+0x1 (/a)\n\n1/1 1.000000000: 1 cycles: \n", dialect: timed, want: []string{"1/1 1000000000 1 cycles"}, unreadable: 2},
		{name: "nothing", text: "", dialect: timed},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, unreadable := readAll(c.text, c.dialect, c.events...)
			if !slices.Equal(got, c.want) || unreadable != c.unreadable {
				t.Errorf("got %q with %d unreadable lines\nwant %q with %d", got, unreadable, c.want, c.unreadable)
			}
		})
	}
}

// Names of 64 KB are read whole; the frames of a sample are bounded.
func TestScriptReader_LongNames(t *testing.T) {
	name := strings.Repeat("x", 64<<10)
	frame := "\t 10 " + name + "+0x1 (/a)\n"
	got, unreadable := readAll("1/1 1.000000000: 1 cycles: \n"+frame+"\n2/2 1.000000000: 1 cycles: \n", dialect{time: true})
	if want := "1/1 1000000000 1 cycles|10 " + name + "+0x1 (/a)"; len(got) != 2 || got[0] != want || unreadable != 0 {
		t.Errorf("got %d samples, the first of %d bytes, and %d unreadable lines; want 2, %d bytes, 0", len(got), len(got[0]), unreadable, len(want))
	}
	got, unreadable = readAll("1/1 1.000000000: 1 cycles: \n"+strings.Repeat(frame, 100)+"\n2/2 1.000000000: 1 cycles: \n", dialect{time: true})
	if len(got) != 2 || unreadable == 0 {
		t.Errorf("got %d samples and %d unreadable lines; want 2 and some", len(got), unreadable)
	}
}

// Lines after the bound of a sample are counted and cost no more than that.
func TestScriptReader_LinesAfterTheBound(t *testing.T) {
	const more = 1000
	r := newScriptReader(bufio.NewReader(strings.NewReader("1/1 1.000000000: 1 cycles: \n\t 10 "+strings.Repeat("x", maxSample)+"\n"+strings.Repeat("\t 10 x\n", more))), dialect{time: true}, nil)
	s, err := r.next()
	if err != nil || len(s.frames) != 1 || r.unreadable != 1+more {
		t.Errorf("got %d frames, %d unreadable lines, %v; want 1, %d, no error", len(s.frames), r.unreadable, err, 1+more)
	}
}

// The longest name of an event counts, if a frame or nothing follows.
func TestScriptReader_NamesOfEvents(t *testing.T) {
	names := []string{"a:b:c", "a", "", "a:b", "ab", "a:b: 10 x", "b", "a"}
	for text, want := range map[string]string{"a:b:c: 10 f+0x1 (/a)": "a:b:c|10 f+0x1 (/a)", "a:b: 10 x": "a:b|10 x", "a:b: 10 x:": "a:b: 10 x|", "a:b:d:": "a:b:d|", "ab:": "ab|", "abc: ": "abc|", "a": "|"} {
		event, frame := newScriptReader(nil, dialect{}, names).cutEvent([]byte(text))
		if got := string(event) + "|" + string(frame); got != want {
			t.Errorf("%q: got %q; want %q", text, got, want)
		}
	}
}

func TestParseFrame_Divided(t *testing.T) {
	known := []string{"/a", "/a (b)", "/x+0x10", "/lib (deleted)", "/tmp/a\nb.so"}
	isFile := func(name []byte) bool { return slices.Contains(known, string(name)) }
	for _, c := range []struct {
		text         string
		places       bool
		symbol, file string
		ip, place    uint64
	}{
		{text: "8d0c9 runtime.memmove+0x169 (/a)", symbol: "runtime.memmove", file: "/a", ip: 0x8d0c9},
		{text: "8d0c9 runtime.memmove+0x169 (/a+0x8d0)", places: true, symbol: "runtime.memmove", file: "/a", ip: 0x8d0c9, place: 0x8d0},
		{text: "ffffffff81000130 entry+0x76 ([kernel.kallsyms])", places: true, symbol: "entry", file: "[kernel.kallsyms]", ip: 0xffffffff81000130},
		{text: "10 [unknown] (/a+0x10)", places: true, symbol: "[unknown]", file: "/a", ip: 16, place: 16},
		{text: "10 [unknown] ([unknown])", places: true, symbol: "[unknown]", file: "[unknown]", ip: 16},
		{text: "10 App:IsPrime (int)+0x1 (/a)", symbol: "App:IsPrime (int)", file: "/a", ip: 16},
		{text: "10 f (/a)+0x5 (x)+0x1 (/a (b))", symbol: "f (/a)+0x5 (x)", file: "/a (b)", ip: 16},
		{text: "10 f+0x1 (/lib (deleted)+0x20)", places: true, symbol: "f", file: "/lib (deleted)", ip: 16, place: 32},
		{text: "10 f+0x1 (/x+0x10)", places: true, symbol: "f", file: "/x+0x10", ip: 16},
		{text: "10 f+0x1 (/x+0x10+0x20)", places: true, symbol: "f", file: "/x+0x10", ip: 16, place: 32},
		{text: "10 f+0x1 (/unknown (1))", symbol: "f", file: "/unknown (1)", ip: 16},
		{text: "10 f+0x1 (/tmp/a\nb.so)", symbol: "f", file: "/tmp/a\nb.so", ip: 16},
		{text: "10 JS:*get a+b (c) /x.js:1:2+0xff (/a)", symbol: "JS:*get a+b (c) /x.js:1:2", file: "/a", ip: 16},
		{text: "10 +0x0 (/a)", symbol: "", file: "/a", ip: 16},
		{text: "10 f (x) (/unknown)", symbol: "f (x)", file: "/unknown", ip: 16},
	} {
		f, ok := parseFrame([]byte(c.text), c.places, isFile)
		if !ok || string(f.symbol) != c.symbol || string(f.file) != c.file || f.ip != c.ip || f.place != c.place || f.hasPlace != (c.place != 0) {
			t.Errorf("%q: got %v, symbol %q, file %q, address %#x, place %#x; want symbol %q, file %q, address %#x, place %#x",
				c.text, ok, f.symbol, f.file, f.ip, f.place, c.symbol, c.file, c.ip, c.place)
		}
	}
	for _, text := range []string{"", "10", "10 ", "10 f+0x1", "10 f+0x1 /a)", "f+0x1 (/a)", "11111111111111111 f+0x1 (/a)"} {
		if f, ok := parseFrame([]byte(text), false, isFile); ok {
			t.Errorf("%q: got symbol %q in %q; want no frame", text, f.symbol, f.file)
		}
	}
}

// FuzzScript reads any text. Samples have only parts of it, and a text of what was read gives the same
// samples.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{
		"28935/28935  2441.974530055:     250000 cpu-clock:ppp: \n\t           8d0c9 runtime.memmove+0x169 (/bin/jitinject)\n\n",
		"  20590/20590    2720.000141038:          1 page-faults:  ffffffff81752b6a elf_load+0x28a ([kernel.kallsyms])\n",
		"-1/-1 1.000000001: 1 a b: c: \n\t 10 x\n\ny (int)+0x1 (/a (b)+0x10)\n",
		"1/1 1.000000001: 1 cycles: \n\t 10 [unknown] ([unknown])\n\t 20 +0x1 (//anon)\n",
	} {
		f.Add([]byte(seed), true, true)
	}
	f.Fuzz(func(t *testing.T, text []byte, places, timed bool) {
		r := newScriptReader(bufio.NewReaderSize(bytes.NewReader(text), 16), dialect{time: timed, places: places}, []string{"a b", "a"})
		var again, first []byte
		for {
			s, err := r.next()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("unexpected error: %v", err)
			}
			again = fmt.Appendf(again, "%d/%d ", s.pid, s.tid)
			if timed {
				again = fmt.Appendf(again, "%d.%09d: ", s.time/1e9, s.time%1e9)
			}
			again = fmt.Appendf(again, "%d %s: %s\n", s.period, s.event, s.head)
			first = fmt.Appendf(first, "%d %d %d %d %q %q\n", s.pid, s.tid, s.time, s.period, s.event, s.head)
			for _, line := range s.frames {
				again = fmt.Appendf(again, "\t%s\n", line)
				first = fmt.Appendf(first, "%q\n", line)
				frame, ok := parseFrame(line, places, func([]byte) bool { return false })
				if ok && (!bytes.Contains(line, frame.symbol) || !bytes.Contains(line, frame.file)) {
					t.Errorf("%q: got symbol %q in %q; want parts of the line", line, frame.symbol, frame.file)
				}
			}
		}
		r = newScriptReader(bufio.NewReader(bytes.NewReader(again)), r.dialect, r.events)
		var second []byte
		for {
			s, err := r.next()
			if err != nil {
				break
			}
			second = fmt.Appendf(second, "%d %d %d %d %q %q\n", s.pid, s.tid, s.time, s.period, s.event, s.head)
			for _, line := range s.frames {
				second = fmt.Appendf(second, "%q\n", line)
			}
		}
		if !bytes.Equal(first, second) {
			t.Errorf("got %s\nand from the text of that %s", first, second)
		}
	})
}

// A symbol may be of thousands of parentheses. Few of them are compared with the files.
func TestParseFrame_ManyParentheses(t *testing.T) {
	compared := 0
	isFile := func(name []byte) bool { compared++; return false }
	symbol := strings.Repeat(" (", 4000)
	f, ok := parseFrame([]byte("401000"+symbol+"+0x10 (/bin/a)"), true, isFile)
	if !ok || string(f.symbol) != symbol[1:] || string(f.file) != "/bin/a" || compared > 100 {
		t.Errorf("got symbol of %d bytes, file %q, ok: %v, after %d comparisons; want %d bytes, /bin/a, after at most %d", len(f.symbol), f.file, ok, compared, len(symbol)-1, 100)
	}
}
