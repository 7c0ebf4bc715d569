package perfmap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/jitinject/jitinject/internal/wire"
)

// all returns the lines of a map, and of damaged ones the errors, in words.
func all(t *testing.T, r *Reader) (texts []string) {
	t.Helper()
	for {
		l, err := r.Next()
		var damage *wire.Error
		switch {
		case err == io.EOF:
			return texts
		case errors.As(err, &damage):
			texts = append(texts, fmt.Sprintf("%d: %v", l.Offset, err))
		case err != nil:
			t.Fatal(err)
		default:
			texts = append(texts, fmt.Sprintf("%d: %x %x %q", l.Offset, l.Start, l.Size, l.Name))
		}
	}
}

func TestReader_Lines(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"7f0000001000 40 name", `0: 7f0000001000 40 "name"`},
		{"0x00007f0000001000 0x0000000000000040 void A.b(int, C) ", `0: 7f0000001000 40 "void A.b(int, C) "`},
		{"0X7F0000001000 0X4F NAME", `0: 7f0000001000 4f "NAME"`},
		{" \t7f0000001000  40\tname", `0: 7f0000001000 40 "name"`},
		{"7f0000001000 40  name", `0: 7f0000001000 40 " name"`},
		{"7f0000001000 0 name", `0: 7f0000001000 0 "name"`},
		{"0 0 \xff\x00\r", `0: 0 0 "\xff\x00\r"`},
		{"ffffffffffffffff 0 n", `0: ffffffffffffffff 0 "n"`},
		{"ffffffffffffffff 1 n", `0: perf map: line: size at offset 0x11: 0x1 bytes from 0xffffffffffffffff on end after the last address`},
		{"7f0000001000 40", `0: perf map: line: name at offset 0xf: it has no name`},
		{"7f0000001000 40 ", `0: perf map: line: name at offset 0xf: it has no name`},
		{"7f0000001000", `0: perf map: line: size at offset 0xc: it is not a hexadecimal number`},
		{"7f0000001000 -40 name", `0: perf map: line: size at offset 0xd: it is not a hexadecimal number`},
		{"0x 40 name", `0: perf map: line: start at offset 0x0: it is not a hexadecimal number`},
		{"7f0000001000,40,name", `0: perf map: line: start at offset 0x0: it is not a hexadecimal number`},
		{"10000000000000000 40 name", `0: perf map: line: start at offset 0x0: the number has more than 64 bits`},
		{"0000000000000000007f000 40 name", `0: 7f000 40 "name"`},
		{"1000 40 " + strings.Repeat("x", MaxLine), `0: perf map: line at offset 0x0: it has 65545 bytes; the limit is 65536`},
	} {
		// In one read and in many, with a damaged line before and a good one after it.
		for _, src := range []io.Reader{strings.NewReader(c.line + "\n1 2 x\n"), iotest.OneByteReader(strings.NewReader(c.line + "\n1 2 x\n"))} {
			r := NewReader(src)
			got := all(t, r)
			want := []string{c.want, fmt.Sprintf(`%d: 1 2 "x"`, len(c.line)+1)}
			if strings.Join(got, "\n") != strings.Join(want, "\n") || r.Cut() != -1 || r.Offset() != int64(len(c.line)+7) {
				t.Errorf("%.60q: got %q, cut at %d, %d bytes; want %q", c.line, got, r.Cut(), r.Offset(), want)
			}
		}
	}
}

func TestReader_LastLineWithoutNewline(t *testing.T) {
	for in, want := range map[string]struct {
		texts string
		cut   int64
	}{
		"":                                  {"", -1},
		"\n \n":                             {"", -1},
		"1 2 a\n\n3 4 b":                    {`0: 1 2 "a"` + "\n" + `7: 3 4 "b"`, 7},
		"1 2 a\n3 4":                        {`0: 1 2 "a"` + "\n" + `6: perf map: line: name at offset 0x9: it has no name`, 6},
		"1 2 " + strings.Repeat("x", 1<<17): {"0: perf map: line at offset 0x0: it has 131076 bytes; the limit is 65536", 0},
	} {
		r := NewReader(strings.NewReader(in))
		if got := strings.Join(all(t, r), "\n"); got != want.texts || r.Cut() != want.cut {
			t.Errorf("%.40q: got %q, cut at %d; want %q, %d", in, got, r.Cut(), want.texts, want.cut)
		}
	}
}

// An error of reading ends the map.
func TestReader_ErrorOfReading(t *testing.T) {
	r := NewReader(io.MultiReader(strings.NewReader("1 2 a\n3 4 b"), iotest.ErrReader(io.ErrClosedPipe)))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if l, err := r.Next(); !errors.Is(err, io.ErrClosedPipe) || l.Offset != 6 {
		t.Errorf("got %+v, %v; want %v at offset 6", l, err, io.ErrClosedPipe)
	}
}

// Every line of the maps of runtimes is a function.
func TestReader_MapsOfRuntimes(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.map")
	if err != nil || len(paths) < 6 {
		t.Fatalf("got %v, %v; want 6 maps", paths, err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, n := NewReader(bytes.NewReader(b)), 0
		for {
			l, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil || l.Start < 1<<20 || l.Size == 0 || len(l.Name) < 3 {
				t.Errorf("%s: got %+v, %v; want a function", path, l, err)
			}
			n++
		}
		if n != 20 || r.Cut() != -1 {
			t.Errorf("%s: got %d lines, cut at %d; want 20, and none cut", path, n, r.Cut())
		}
	}
}

// FuzzReader: lines cover arbitrary bytes in order, and each line alone is read alike.
func FuzzReader(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.map")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("1 2 a\n\n3"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, before := NewReader(bytes.NewReader(in)), int64(-1)
		for {
			l, err := r.Next()
			if err == io.EOF {
				break
			}
			if l.Offset <= before || r.Offset() <= l.Offset || r.Offset() > int64(len(in)) {
				t.Fatalf("got a line from %d to %d after one at %d, of %d bytes", l.Offset, r.Offset(), before, len(in))
			}
			before = l.Offset
			if err != nil {
				if !errors.As(err, new(*wire.Error)) {
					t.Fatalf("got %v; want an error with an offset", err)
				}
				continue
			}
			again, err := Parse(bytes.TrimSuffix(in[l.Offset:r.Offset()], []byte("\n")), l.Offset)
			if err != nil || again.Start != l.Start || again.Size != l.Size || !bytes.Equal(again.Name, l.Name) || len(l.Name) == 0 || l.Start+l.Size < l.Start {
				t.Fatalf("got %+v, %v; want %+v", again, err, l)
			}
		}
		if r.Offset() != int64(len(in)) {
			t.Fatalf("got %d bytes; want %d", r.Offset(), len(in))
		}
	})
}
