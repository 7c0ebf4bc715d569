package v8log

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// created returns the code-creations of a log as text, its damage and where it is cut.
func created(t *testing.T, log string) (all []string, damage []error, cut int64) {
	t.Helper()
	damage, r := readAll(t, []byte(log), func(rec Record) {
		if c, ok := rec.(*CodeCreation); ok {
			all = append(all, fmt.Sprintf("%s %#x %q %#x %s", c.Tag, c.Address, c.Name, c.SFI, c.Tier))
			if !strings.HasPrefix(log[c.NameOffset:], string(c.Name)) {
				t.Errorf("got name %q at offset %#x; want the name there", c.Name, c.NameOffset)
			}
		}
	})
	return all, damage, r.Cut
}

const (
	header = "v8-version,11,3,244,8,0\n"
	source = "code-source-info,0x10,1,0,3,,,\n"
	other  = "code-creation,JS,13,2,0x20,3,g a.js:2:1,0x40,^\n"
	otherC = `JS 0x20 "g a.js:2:1" 0x40 ^`
)

// Names of functions are not escaped.
func TestReader_Names(t *testing.T) {
	long := strings.Repeat("\n", maxNameLines)
	for _, c := range []struct {
		name, log string
		want      []string
		damaged   int
	}{
		{"comma", "code-creation,JS,13,1,0x10,3,a,b /x\\x2C:1:1,0x30,*\n" + other,
			[]string{`JS 0x10 "a,b /x\\x2C:1:1" 0x30 *`, otherC}, 0},
		{"like fields", "code-creation,JS,13,1,0x10,3,a,0x1,*,b /x:1:1,0x30,o*'\n" + other,
			[]string{`JS 0x10 "a,0x1,*,b /x:1:1" 0x30 o*'`, otherC}, 0},
		{"backslash", "code-creation,JS,13,1,0x10,3,a\\x41\\ /x:1:1,0x30,*\n" + other,
			[]string{`JS 0x10 "a\\x41\\ /x:1:1" 0x30 *`, otherC}, 0},
		{"newline", "code-creation,JS,13,1,0x10,3,new\nline /x:1:1,0x30,*\n" + other,
			[]string{`JS 0x10 "new\nline /x:1:1" 0x30 *`, otherC}, 0},
		{"no tier", "code-creation,JS,13,1,0x10,3,new\nline /x:1:1,0x30,\n" + other,
			[]string{`JS 0x10 "new\nline /x:1:1" 0x30 `, otherC}, 0},
		{"many lines", "code-creation,Script,13,1,0x10,3,a" + long + " /x:1:1,0x30,*\n" + other,
			[]string{fmt.Sprintf("Script 0x10 %q 0x30 *", "a"+long+" /x:1:1"), otherC}, 0},
		{"too many lines", "code-creation,JS,13,1,0x10,3,a\n" + long + " /x:1:1,0x30,*\n" + other,
			[]string{otherC}, 1},
		{"too long", "code-creation,JS,13,1,0x10,3,a\n" + strings.Repeat("b", MaxName) + " /x:1:1,0x30,*\n" + other,
			[]string{otherC}, 1},
		{"like a record", "code-creation,JS,13,1,0x10,3,a\nsfi-move,0x1,0x2 /x:1:1,0x30,*\n" + source + other,
			[]string{`JS 0x10 "a\nsfi-move,0x1,0x2 /x:1:1" 0x30 *`, otherC}, 0},
		{"like a creation", "code-creation,JS,13,1,0x10,3,a\n" + other + "b /x:1:1,0x30,*\n" + source,
			[]string{fmt.Sprintf("JS 0x10 %q 0x30 *", "a\n"+other+"b /x:1:1")}, 0},
		{"damaged, then a record", "code-creation,JS,13,1,0x10,3,a\n" + other + "code-source-info,0x20,1,0,3,,,\n",
			[]string{otherC}, 1},
		{"damaged, then a long record", "code-creation,JS,13,1,0x10,3,a\nscript-source,1,a," + strings.Repeat("b", 3*bufferSize) + "\n" + other,
			[]string{otherC}, 1},
		{"of no function", "code-creation,RegExp,4,1,0x10,3,a\\x2Cb\n" + other,
			[]string{`RegExp 0x10 "a\\x2Cb" 0x0 `, otherC}, 0},
	} {
		all, damage, cut := created(t, header+c.log)
		if !slices.Equal(all, c.want) || len(damage) != c.damaged || cut != -1 {
			t.Errorf("%s: got %.300q, damage %v, cut at %d; want %.300q, %d damaged lines, not cut", c.name, all, damage, cut, c.want, c.damaged)
		}
		for _, err := range damage {
			if e := err.(*Error); e.Field != "SFI" {
				t.Errorf("%s: got %v; want an error of the field SFI", c.name, err)
			}
		}
	}
}

// A log that ends in a name is cut in that record, wherever it ends.
func TestReader_CutInName(t *testing.T) {
	const log = header + other + "code-creation,JS,13,1,0x10,3,a\nb,c\nd /x:1:1,0x30,*\n"
	at := len(header + other)
	for n := at + 1; n < len(log); n++ {
		if all, damage, cut := created(t, log[:n]); len(all) != 1 || len(damage) > 0 || cut != int64(at) {
			t.Errorf("%d bytes: got %q, damage %v, cut at %d; want one creation, no damage, cut at %d", n, all, damage, cut, at)
		}
	}
}

// A counter counts the bytes that are read.
type counter struct {
	io.ReaderAt
	bytes int
}

func (c *counter) ReadAt(b []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, off)
	c.bytes += n
	return n, err
}

// Lines that look like names without end do not make the file be read again and again.
func TestReader_NamesWithoutEnd(t *testing.T) {
	log := header + strings.Repeat("code-creation,JS,13,1,0x10,3,a\n", 100_000) + other
	src := &counter{ReaderAt: strings.NewReader(log)}
	r, err := NewReader(src)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for err != io.EOF {
		if _, err = r.Next(); err != nil && err != io.EOF {
			damaged++
		}
	}
	if damaged != 100_000 || src.bytes > 2*len(log)+bufferSize {
		t.Errorf("got %d damaged lines, %d bytes read; want 100,000, at most %d", damaged, src.bytes, 2*len(log)+bufferSize)
	}
}

// A name may begin in one part of the file in memory and end in another.
func TestReader_NameAtEndOfBuffer(t *testing.T) {
	const name = "code-creation,JS,13,1,0x10,3,a\nb\nc /x:1:1,0x30,*\n"
	const damaged = "code-creation,JS,13,1,0x10,3,a\nb\n" + "sfi-move,0x1,0x2\n" + other
	want := []string{`JS 0x10 "a\nb\nc /x:1:1" 0x30 *`, otherC}
	for i := range len(name) + len(damaged) {
		log := header + strings.Repeat("x", bufferSize-len(header)-1-i) + "\n" + name + damaged
		if all, damage, cut := created(t, log); !slices.Equal(all, want) || len(damage) != 1 || cut != -1 {
			t.Fatalf("%d bytes before the end: got %q, damage %v, cut at %d; want %q, one damaged line, not cut", i, all, damage, cut, want)
		}
	}
}
