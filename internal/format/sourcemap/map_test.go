package sourcemap

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// read reads a map in memory.
func read(t testing.TB, text string) *Map {
	t.Helper()
	m, err := Read(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// at shows the original place of a place: source, line and column, and the name.
func at(m *Map, line, column uint32) string {
	p, ok := m.Find(line, column)
	if !ok {
		return "none"
	}
	s := fmt.Sprintf("%s:%d:%d", m.Sources[p.Source].URL, p.Line, p.Column)
	if p.Name != "" {
		s += " " + p.Name
	}
	if p.Exact {
		s += " exact"
	}
	return s
}

// demand compares the original places of places "line:column".
func demand(t *testing.T, m *Map, want map[string]string) {
	t.Helper()
	for place, want := range want {
		var line, column uint32
		fmt.Sscanf(place, "%d:%d", &line, &column)
		if got := at(m, line, column); got != want {
			t.Errorf("at %s: got %q; want %q", place, got, want)
		}
	}
}

// The segments, in numbers: line 1: 0→a 1:1; 5→none; 10→a 3:3 n. Line 3: 2→b 3:1.
func TestFind_Segments(t *testing.T) {
	m := read(t, `{"version":3,"sources":["a","b"],"names":["n"],"mappings":"AAAA,K,KAEEA;;ECAF"}`)
	demand(t, m, map[string]string{
		"1:1": "a:1:1 exact", "1:5": "a:1:1", "1:6": "none", "1:10": "none", "1:11": "a:3:3 n exact", "1:4000000000": "a:3:3 n",
		"2:1": "none", "2:9": "none", // a segment ends with its line
		"3:2": "none", "3:3": "b:3:1 exact", "3:9": "b:3:1", "4:1": "none", "0:1": "none", "1:0": "none",
	})
	if m.Lines() != 3 || m.Damaged != 0 {
		t.Errorf("got %d lines, %d damaged; want 3 and none", m.Lines(), m.Damaged)
	}
}

// Of several segments at one place the last one counts, as in browsers and node.
func TestFind_SamePlace(t *testing.T) {
	m := read(t, `{"version":3,"sources":["a"],"mappings":"AAAA,AACA,AACA"}`)
	demand(t, m, map[string]string{"1:1": "a:3:1 exact"})
}

// Segments of a line need not be in order.
func TestFind_UnsortedLine(t *testing.T) {
	m := read(t, `{"version":3,"sources":["a"],"names":["x","y"],"mappings":"AAAA;IACGC,FADDD,CAAC;AACA"}`)
	demand(t, m, map[string]string{
		"1:1": "a:1:1 exact", "2:1": "none", "2:3": "a:1:3 x exact", "2:4": "a:1:4 exact", "2:5": "a:2:4 y exact", "2:9": "a:2:4 y", "3:1": "a:2:4 exact",
	})
}

// Columns of a section count from its start in its first line only.
func TestFind_Sections(t *testing.T) {
	m := read(t, `{"version":3,"sections":[
		{"offset":{"line":0,"column":4},"map":{"version":3,"sources":["a"],"names":["x"],"mappings":"AAAAA"}},
		{"map":{"version":3,"sources":["b"],"sourceRoot":"r/","names":["y"],"mappings":"AAAAA;KAAA"},"offset":{"line":1,"column":10}}]}`)
	demand(t, m, map[string]string{
		"1:4": "none", "1:5": "a:1:1 x exact", "1:9": "a:1:1 x", "2:10": "none", "2:11": "r/b:1:1 y exact", "3:5": "none", "3:6": "r/b:1:1 exact",
	})
	if m.Lines() != 3 {
		t.Errorf("got %d lines; want 3", m.Lines())
	}
}

func TestRead_SourcesAndRoots(t *testing.T) {
	for text, want := range map[string]string{
		`"sources":["a",null,""],"sourceRoot":""`:                          "a||",
		`"sourceRoot":"src","sources":["a","/b","http://h/c",null,"../d"]`: "src/a|/b|http://h/c||src/../d",
		`"sourceRoot":null,"sources":["a"],"file":null,"x_y":{"a":[[{}]]}`: "a",
		`"sources":null,"names":null,"sourcesContent":null`:                "",
	} {
		m := read(t, `{"version":3,"mappings":"",`+text+`}`)
		var got []string
		for i := range m.Sources {
			got = append(got, m.Sources[i].URL)
		}
		if got := strings.Join(got, "|"); got != want {
			t.Errorf("%s: got %q; want %q", text, got, want)
		}
	}
}

func TestWriteText_Sources(t *testing.T) {
	m := read(t, ")]}'\n"+`{"version":3,"sources":["a","b","c","d"],"sourcesContent":[ "l1\nü\u00fc😀\ud83d\ude00" , null,"" ],"mappings":""}`)
	for i, want := range []string{"l1\nüü😀😀", "", "", ""} {
		var b bytes.Buffer
		s := &m.Sources[i]
		if content := i == 0 || i == 2; s.Content != content {
			t.Errorf("%s: got a text: %v; want %v", s.URL, s.Content, content)
		}
		if !s.Content {
			continue
		}
		if err := m.WriteText(&b, i); err != nil || b.String() != want || s.Size != len(want) {
			t.Errorf("%s: got %q of %d bytes, %v; want %q", s.URL, b.String(), s.Size, err, want)
		}
	}
	m.src = strings.NewReader("")
	if err := m.WriteText(io.Discard, 0); err == nil {
		t.Error("a map that cannot be read again: got no error")
	}
}

func TestRead_Damage(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "source map: offset 0x0: the JSON ends too early",
		"root:x:0:0":                             "source map: offset 0x1: this is no JSON",
		"[]":                                     errNotMap.Error(),
		"{}":                                     errNotMap.Error(),
		`{"version":2,"mappings":""}`:            errNotMap.Error(),
		`{"version":3,"mappings":"AAAA`:          "source map: offset 0x18: the JSON ends too early",
		`{"version":3,"mappings":7}`:             "source map: offset 0x19: this is not a text",
		`{"version":3,"mappings":"AAAA,!"}`:      `source map: mappings at character 5, of generated line 1: '!' is no digit of Base64`,
		`{"version":3,"mappings":";;AAAAg"}`:     "source map: mappings at character 7, of generated line 3: the mappings end inside a number",
		`{"version":3,"mappings":"AA"}`:          "source map: mappings at character 2, of generated line 1: a segment has 2 numbers",
		`{"version":3,"mappings":"AAAAAA"}`:      "source map: mappings at character 5, of generated line 1: a segment has more than 5 numbers",
		`{"version":3,"mappings":"gggggggggA"}`:  "source map: mappings at character 7, of generated line 1: a number has more than 7 digits",
		`{"version":3,"mappings":"D"}`:           "source map: mappings at character 1, of generated line 1: the column -1 is invalid",
		`{"version":3,"sections":[{}]}`:          "source map: offset 0x1b: a section has no map",
		`{"version":3,"sections":[{"url":"x"}]}`: "source map: offset 0x1f: a section is in another file",
		`{"version":3,"sections":[{"offset":{"line":-1}}]}`: "source map: offset 0x2e: a section begins before its file",
	} {
		_, err := Read(strings.NewReader(text), int64(len(text)))
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v; want %s", text, err, want)
		}
	}
	if _, err := Read(strings.NewReader(""), maxSize+1); err != errLarge {
		t.Errorf("a map of %d bytes: got %v; want %v", maxSize+1, err, errLarge)
	}
}

// Places that cannot be have no original: the generated place stays.
func TestFind_ImpossiblePlaces(t *testing.T) {
	m := read(t, `{"version":3,"sources":["a"],"names":["n"],"mappings":"AAAA,CCAA,CDAA,CADA,CACAC,CAAAD"}`)
	demand(t, m, map[string]string{"1:1": "a:1:1 exact", "1:2": "none", "1:3": "a:1:1 exact", "1:4": "none", "1:5": "none", "1:6": "a:1:1 n exact"})
	if m.Damaged != 3 {
		t.Errorf("got %d damaged segments; want 3", m.Damaged)
	}
}

// Marks change nothing: each place is found as by reading all segments up to it.
func TestFind_ManySegments(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	type entry struct {
		line, column uint32
		place        string
	}
	var all []entry
	var last segment
	for line := range uint32(40) {
		last.generated = 0
		for n, column := random.IntN(200), int64(0); n > 0; n-- {
			column += 1 + random.Int64N(9)
			s := segment{source: random.Int32N(5), line: random.Int32N(9999), column: random.Int32N(99)}
			encode(&text, column-last.generated)
			place := "none"
			if random.IntN(9) > 0 {
				encode(&text, int64(s.source-last.source))
				encode(&text, int64(s.line-last.line))
				encode(&text, int64(s.column-last.column))
				place = fmt.Sprintf("%d:%d:%d exact", s.source, s.line+1, s.column+1)
				last = s
			}
			last.generated = column
			all = append(all, entry{line + 1, uint32(column) + 1, place})
			text.WriteByte(',')
		}
		text.WriteByte(';')
	}
	m := read(t, `{"version":3,"sources":["0","1","2","3","4"],"mappings":"`+text.String()+`"}`)
	for i, e := range all {
		if got := at(m, e.line, e.column); got != e.place {
			t.Fatalf("segment %d at %d:%d: got %q; want %q", i, e.line, e.column, got, e.place)
		}
	}
	if m.Memory() > text.Len()*3/2+2000 {
		t.Errorf("got %d bytes of memory for %d of mappings; want half as much more at most", m.Memory(), text.Len())
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"version":3,"sources":["a"],"names":["n"],"sourcesContent":["x"],"mappings":"AAAA,K,KAEEA;;ECAF"}`))
	f.Add([]byte(`{"version":3,"sections":[{"offset":{"line":1,"column":10},"map":{"version":3,"sources":["b"],"mappings":"IAAA,D"}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for line := range min(m.Lines(), 100) {
			for column := range uint32(100) {
				if p, ok := m.Find(line+1, column+1); ok && (p.Source >= len(m.Sources) || p.Line == 0 || p.Column == 0) {
					t.Fatalf("%d:%d: got %+v; want a place in %d sources", line+1, column+1, p, len(m.Sources))
				}
			}
		}
		for i := range m.Sources {
			if s := &m.Sources[i]; s.Content {
				if err := m.WriteText(io.Discard, i); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// A root is a part of each source's name: many sources with a long one would need memory of the product.
func TestRead_LongRoot(t *testing.T) {
	const n = 200_000
	text := `{"version":3,"sourceRoot":"` + strings.Repeat("r", n/2) + `","sources":[` + strings.Repeat(`"a",`, n/8) + `""],"names":[],"mappings":"AAAA"}`
	if _, err := Read(strings.NewReader(text), int64(len(text))); err == nil || !strings.Contains(err.Error(), "sourceRoot is too long") {
		t.Errorf("got error %v; want one about the sourceRoot", err)
	}
}

// encode appends a number.
func encode(b *strings.Builder, n int64) {
	v := uint64(n) << 1
	if n < 0 {
		v = uint64(-n)<<1 | 1
	}
	for {
		digit := v & 31
		if v >>= 5; v > 0 {
			digit |= 32
		}
		b.WriteByte(alphabet[digit])
		if v == 0 {
			return
		}
	}
}
