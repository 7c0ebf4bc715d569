package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// The vectors of docs/formats/jitdump-extensions.txt: dumps, with their fields and frames in a text.

var (
	vectorLine  = regexp.MustCompile(`(?m)^    ([0-9a-f]{3})  ((?:[0-9a-f]{2} ?)+?)(?:  +(\S+)(?:  +(\S.*))?)?$`)
	vectorFrame = regexp.MustCompile(`(?m)^    (\w+)\+([0-9a-f]{2})  (.*)$`)
)

// vectors returns the names of the vectors.
func vectors(t *testing.T) []string {
	t.Helper()
	texts, err := filepath.Glob(testrec.Path("jitdump", "*.txt"))
	if err != nil || len(texts) < 8 {
		t.Fatalf("got %d vectors, %v; want 8 at least", len(texts), err)
	}
	for i, text := range texts {
		texts[i] = strings.TrimSuffix(text, ".txt")
	}
	return texts
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The texts have the bytes of the dumps, and the numbers that these are.
func TestVectors_TextsAreDumps(t *testing.T) {
	for _, name := range vectors(t) {
		dump, numbers, at := readFile(t, name+".dump"), 0, 0
		order := map[byte]binary.ByteOrder{'D': binary.LittleEndian, 'J': binary.BigEndian}[dump[0]]
		for _, m := range vectorLine.FindAllStringSubmatch(string(readFile(t, name+".txt")), -1) {
			b, err := hex.DecodeString(strings.ReplaceAll(m[2], " ", ""))
			if want := fmt.Sprintf("%03x", at); err != nil || m[1] != want || !bytes.HasPrefix(dump[at:], b) {
				t.Fatalf("%s: got %q, %v; want the bytes at %s", name, m[0], err, want)
			}
			at += len(b)
			var is uint64
			switch value, _, _ := strings.Cut(m[4], ":"); {
			case len(b) == 4:
				is = uint64(order.Uint32(b))
				fallthrough
			case len(b) == 8 && strings.Trim(value, "x0123456789abcdef") == "":
				if len(b) == 8 {
					is = order.Uint64(b)
				}
				if number, err := strconv.ParseUint(value, 0, 64); err == nil {
					if numbers++; number != is {
						t.Errorf("%s: got %q; want the value %d", name, m[0], is)
					}
				}
			}
		}
		if at != len(dump) || numbers < 40 {
			t.Errorf("%s: got %d bytes and %d numbers; want %d, and 40 at least", name, at, numbers, len(dump))
		}
	}
}

// What the reader reads of a sound vector, the writer writes again.
func TestVectors_Writer(t *testing.T) {
	for _, name := range vectors(t) {
		dump := readFile(t, name+".dump")
		r, err := jitdump.NewReader(bytes.NewReader(dump))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w, err := jitdump.NewWriter(&b, r.Header())
		if err != nil {
			t.Fatal(err)
		}
		damaged := false
		for {
			raw, err := r.Next()
			if errors.Is(err, io.EOF) || errors.Is(err, jitdump.ErrCut) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			rec, err := raw.Decode()
			if err != nil {
				damaged = true
				continue
			}
			if err := w.Write(raw.Timestamp, rec); err != nil {
				t.Fatal(err)
			}
		}
		switch base := filepath.Base(name); {
		case damaged != (base == "counts"):
			t.Errorf("%s: got a damaged record: %v", base, damaged)
		case !damaged && !bytes.HasPrefix(dump, b.Bytes()), !damaged && base != "lines-unordered" && b.Len() != len(dump):
			t.Errorf("%s: got\n%x\nwant\n%x", base, b.Bytes(), dump)
		}
	}
}

// position writes a place of the source as the texts do.
func position(fn *jitcode.Function, file int, line, column uint32) string {
	switch {
	case line == 0 || file < 0 || fn.Files[file] == "":
		return ""
	case column == 0:
		return fmt.Sprintf(" %s:%d", fn.Files[file], line)
	}
	return fmt.Sprintf(" %s:%d:%d", fn.Files[file], line, column-1)
}

// framesAt returns the frames at an offset, the innermost first, as section VII of the text finds them.
func framesAt(fn *jitcode.Function, at uint64) string {
	name, place, parent := string(fn.Name), "", -1
	for _, l := range fn.Lines {
		if l.Offset <= at {
			place = position(fn, l.File, l.Line, l.Column)
		}
	}
	origin, outer := 0, ""
	for i, c := range fn.Inlines {
		if c.Parent == parent && slices.ContainsFunc(fn.Ranges[c.First:c.Last], func(r jitcode.Range) bool { return r.Offset <= at && at < r.Offset+r.Size }) {
			outer = " < " + name + position(fn, fn.Origins[origin].File, c.Line, c.Column) + outer
			name, origin, parent = string(fn.Origins[c.Origin].Name), c.Origin, i
		}
	}
	return name + place + outer
}

func TestVectors_Frames(t *testing.T) {
	for _, name := range vectors(t) {
		d := scan(t, bytes.NewReader(readFile(t, name+".dump")))
		functions := make(map[string]*jitcode.Function)
		for i := range d.NumFunctions() {
			fn, err := d.Reader().Function(i)
			if err != nil {
				t.Fatal(err)
			}
			copied := *fn
			functions[string(fn.Name)] = &copied
		}
		wants := vectorFrame.FindAllStringSubmatch(string(readFile(t, name+".txt")), -1)
		named := make(map[string]bool)
		for _, m := range wants {
			at, err := strconv.ParseUint(m[2], 16, 64)
			if err != nil || functions[m[1]] == nil {
				t.Fatalf("%s: got no function %s of %q, %v", name, m[1], slices.Sorted(maps.Keys(functions)), err)
			}
			named[m[1]] = true
			if got := framesAt(functions[m[1]], at); got != m[3] {
				t.Errorf("%s: got %q at %s+%s; want %q", name, got, m[1], m[2], m[3])
			}
		}
		if len(named) != len(functions) {
			t.Errorf("%s: got frames of %d functions; want %d", name, len(named), len(functions))
		}
	}
}
