package v8log

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// readLog returns a log of testdata: node's samples, cut to the lines of the program.
func readLog(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readAll returns the kinds of all records, and the errors of damaged lines.
func readAll(t testing.TB, b []byte, each func(Record)) (damage []error, r *Reader) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := r.Next()
		switch e := (*Error)(nil); {
		case err == io.EOF:
			return damage, r
		case errors.As(err, &e):
			damage = append(damage, err)
		case err != nil:
			t.Fatal(err)
		default:
			each(rec)
		}
	}
}

func TestReader_RealLogs(t *testing.T) {
	for _, c := range []struct {
		name, version     string
		optimized, inline int
	}{
		{"node20.log", "11.3.244.8", 11, 4},
		{"node25.log", "14.1.146.11", 17, 4},
	} {
		b := readLog(t, c.name)
		version, optimized, inline, scripts := "", 0, 0, map[string]int{}
		damage, r := readAll(t, b, func(rec Record) {
			switch rec := rec.(type) {
			case *Version:
				version = rec.Text
			case *CodeCreation:
				if rec.IsOptimized() {
					optimized++
				}
				if name := rec.Name; !bytes.HasPrefix(b[rec.NameOffset:], name) {
					t.Errorf("%s: got name %q at offset %#x; want the name there", c.name, name, rec.NameOffset)
				}
			case *SourceInfo:
				if rec.Inlining.Size > 0 {
					inline++
				}
			case *ScriptSource:
				scripts[filepath.Base(string(rec.URL))] = rec.Lines.Count()
			}
		})
		if len(damage) > 0 || r.Cut >= 0 || r.Unknown != 2 {
			t.Errorf("%s: got damage %v, cut %d, %d unknown lines; want none, -1, 2", c.name, damage, r.Cut, r.Unknown)
		}
		if version != c.version || optimized != c.optimized || inline != c.inline {
			t.Errorf("%s: got V8 %s, %d optimized, %d with inlined calls; want %s, %d, %d", c.name, version, optimized, inline, c.version, c.optimized, c.inline)
		}
		if scripts["app.js"] != 21 || scripts["geometry.js"] != 12 {
			t.Errorf("%s: got lines %v; want app.js with 21 and geometry.js with 12", c.name, scripts)
		}
	}
}

// Every prefix of a log has the records of its whole lines.
func TestReader_Cut(t *testing.T) {
	b := readLog(t, "node20.log")
	for n := len("v8-version,"); n <= len(b); n += 1 + n/40 {
		damage, r := readAll(t, b[:n], func(Record) {})
		want := int64(bytes.LastIndexByte(b[:n], '\n') + 1)
		if want == int64(n) {
			want = -1
		}
		if r.Cut != want || len(damage) > 0 {
			t.Errorf("%d bytes: got cut %d, damage %v; want %d and none", n, r.Cut, damage, want)
		}
	}
}

func TestReader_DamagedLines(t *testing.T) {
	const head = "v8-version,11,3,244,8,0\n"
	for _, c := range []struct{ line, field string }{
		{"code-creation,JS,13,1,0x10,zwei,f a.js:1:1,0x20,*", "size"},
		{"code-creation,JS,13,1,10,2,f a.js:1:1,0x20,*", "address"},
		{"code-creation,JS,13", "time"},
		{"code-creation,JS,13,1,0x10,2,f a.js:1:1,0x20,*,more", "SFI"},
		{"code-creation,JS,13,1,0x10,2,f a.js:1:1", "SFI"},
		{"code-creation,JS,13,1,0x10,2,f a.js:1:1,20,*", "SFI"},
		{"code-creation,JS,13,1,0x10,2,f a.js:1:1,0x20,maglev", "SFI"},
		{"code-source-info,0x10,1,-2,3,,,", "start"},
		{"code-source-info,0x10,1,0,99999999999,,,", "end"},
		{"code-source-info,0x10,1,0,3,C0O1", "inlining"},
		{`script-source,1,a.js,a\qb`, "text"},
		{"sfi-move,0x10", "to"},
	} {
		seen := 0
		damage, _ := readAll(t, []byte(head+c.line+"\nsfi-move,0x1,0x2\n"), func(rec Record) {
			if m, ok := rec.(*Move); ok && m.From == 1 && m.To == 2 {
				seen++
			}
		})
		e := (*Error)(nil)
		if len(damage) != 1 || !errors.As(damage[0], &e) || e.Field != c.field || e.Offset < int64(len(head)) || e.Offset > int64(len(head)+len(c.line)+1) {
			t.Errorf("%s: got %v; want an error of the field %q with its offset", c.line, damage, c.field)
		}
		if seen != 1 {
			t.Errorf("%s: got %d records after it; want 1", c.line, seen)
		}
	}
}

func TestNewReader_OtherFile(t *testing.T) {
	for _, text := range []string{"", "v8-version", "JiTD", "v8-versions,1"} {
		if _, err := NewReader(strings.NewReader(text)); err != errNotLog {
			t.Errorf("%q: got %v; want %v", text, err, errNotLog)
		}
	}
}

// A unit is a UTF-16 code unit; the escapes are V8's.
func escapeUnit(u uint16) string {
	switch {
	case u > 0xff:
		return fmt.Sprintf("\\u%04x", u)
	case u == ',':
		return "\\x2C"
	case u == '\\':
		return `\\`
	case u == '\n':
		return `\n`
	case u < ' ' || u >= 0x7f:
		return fmt.Sprintf("\\x%02x", u)
	}
	return string(rune(u))
}

// The lines of random texts are those that a count from the beginning finds, however the text is
// cut into parts.
func TestLines_RandomTexts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	units := []uint16{'a', 'b', ' ', ',', '\\', '\n', '\n', '\r', '\r', 0x2028, 0x2029, 0xe4, 0x20ac, 0xd83d, 0xde00}
	for range 300 {
		var text []uint16
		var escaped []byte
		for range rnd.IntN(400) {
			u := units[rnd.IntN(len(units))]
			for range 1 + rnd.IntN(3)*rnd.IntN(60) {
				text = append(text, u)
				escaped = append(escaped, escapeUnit(u)...)
			}
		}
		parts := newLinesOf()
		for rest := escaped; len(rest) > 0; {
			n := 1 + rnd.IntN(len(rest))
			parts.add(rest[:n])
			rest = rest[n:]
		}
		lines := parts.finish()
		line, column := uint32(1), uint32(1)
		for i := 0; i <= len(text); i++ {
			l, c, ok := lines.Position(int32(i))
			if !ok || l != line || c != column {
				t.Fatalf("%s: unit %d: got %d:%d, %v; want %d:%d", escaped, i, l, c, ok, line, column)
			}
			if i == len(text) {
				break
			}
			column++
			switch u := text[i]; {
			case u == '\r' && i+1 < len(text) && text[i+1] == '\n':
			case u == '\n', u == '\r', u == 0x2028, u == 0x2029:
				line, column = line+1, 1
			}
		}
		if _, _, ok := lines.Position(int32(len(text) + 1)); ok || parts.bad > 0 || lines.Units != int64(len(text)) || lines.Count() != int(line) {
			t.Errorf("%s: got %d units, %d lines, %d bad escapes, a position after the end: %v; want %d, %d, 0, false", escaped, lines.Units, lines.Count(), parts.bad, ok, len(text), line)
		}
	}
}

func TestAppendText_Escapes(t *testing.T) {
	for field, want := range map[string]string{
		`f`:                  "f",
		`\xc3\xa4`:           "Ã¤",
		`\xe4`:               "ä",
		`\u20ac\ud83d\ude00`: "€😀",
		`\ud83d!`:            "\ufffd!",
		`a\x2Cb\\\n`:         "a,b\\\n",
	} {
		if got := string(AppendText(nil, []byte(field))); got != want {
			t.Errorf("AppendText(%s): got %q; want %q", field, got, want)
		}
	}
}

func TestLists_Entries(t *testing.T) {
	var got []string
	for p, err := range Positions([]byte("C0O69C79O226I2C80O-1Cx"), 100) {
		got = append(got, fmt.Sprint(p, err))
	}
	for c, err := range Calls([]byte("F0O117FO90I0"), 0) {
		got = append(got, fmt.Sprint(c, err))
	}
	for a, err := range Functions([]byte("S0xac14S0x10"), 0) {
		got = append(got, fmt.Sprintf("%#x %v", a, err))
	}
	want := []string{
		"{0 69 -1} <nil>", "{79 226 2} <nil>", "{80 -1 -1} <nil>",
		`{4294967295 0 0} V8 log: code-source-info: positions at offset 0x79: the code offset is missing`,
		"{0 117 -1} <nil>", "{-1 90 0} <nil>", "0xac14 <nil>", "0x10 <nil>",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Whatever a log has, reading it ends, and places are inside the file.
func FuzzReader(f *testing.F) {
	for _, name := range []string{"node20.log", "node25.log"} {
		f.Add(readLog(f, name))
	}
	f.Add([]byte("v8-version,1,2,3,4\ncode-creation,JS,1,1,0x1,1,a,b\nsfi-move,0x1,0x2\nc a:1:1,0x1,*\ncode-source-info,0x1,1,0,3,,,\ncode-creation,JS,1,1,0x1,1,a\nb"))
	f.Add([]byte("v8-version,1,2,3,4\ncode-source-info,0x1,1,0,3,C0O1I0,F0O1I0,S0x1\nsfi-move,0x1,0x2\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !IsLog(bytes.NewReader(b)) {
			return
		}
		inside := func(s Span) []byte {
			if s.Off < 0 || s.Size < 0 || s.Off+s.Size > int64(len(b)) {
				t.Fatalf("got a part of %d bytes at %d; want it inside %d bytes", s.Size, s.Off, len(b))
			}
			return b[s.Off : s.Off+s.Size]
		}
		at := int64(-1)
		readAll(t, b, func(rec Record) {
			switch rec := rec.(type) {
			case *CodeCreation:
				if name := inside(Span{rec.NameOffset, int64(len(rec.Name))}); !bytes.Equal(name, rec.Name) {
					t.Errorf("got name %q at %d; want %q there", rec.Name, rec.NameOffset, name)
				}
			case *ScriptSource:
				inside(rec.Text)
				for _, unit := range []int32{0, 1, int32(rec.Lines.Units)} {
					if l, c, ok := rec.Lines.Position(unit); ok && (l == 0 || c == 0) {
						t.Errorf("unit %d: got %d:%d; want numbers from 1", unit, l, c)
					}
				}
			case *SourceInfo:
				if rec.Offset <= at {
					t.Errorf("got a line at %d after one at %d; want lines in order", rec.Offset, at)
				}
				at = rec.Offset
				for range Positions(inside(rec.Positions), rec.Positions.Off) {
				}
				for range Calls(inside(rec.Inlining), rec.Inlining.Off) {
				}
				for range Functions(inside(rec.Functions), rec.Functions.Off) {
				}
			}
		})
	})
}
