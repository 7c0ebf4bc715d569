package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	pprof "github.com/google/pprof/profile"

	"github.com/jitinject/jitinject/internal/profile"
)

func TestFormats_AreDifferent(t *testing.T) {
	names, suffixes := make(map[string]bool), make(map[string]bool)
	for _, f := range Formats() {
		if f.Name == "" || f.Brief == "" || !strings.HasPrefix(f.Suffix, ".") {
			t.Errorf("got %q, %q, %q; want a name, a suffix with its dot, a brief", f.Name, f.Suffix, f.Brief)
		}
		names[f.Name], suffixes[f.Suffix] = true, true
	}
	if len(names) != 4 || len(suffixes) != 4 {
		t.Errorf("got %d names and %d suffixes; want 4 of each", len(names), len(suffixes))
	}
}

// The same profile gives the same bytes, although the writers use maps.
func TestWrite_SameBytesAgain(t *testing.T) {
	for _, f := range Formats() {
		for name, p := range map[string]*profile.Profile{"recorded": recorded(), "hostile": hostile()} {
			var first bytes.Buffer
			for i := range 5 {
				var out bytes.Buffer
				if err := Write(&out, f.Name, p, Options{}); err != nil {
					t.Fatalf("%s, %s: %v", f.Name, name, err)
				}
				if i == 0 {
					first = out
				} else if !bytes.Equal(first.Bytes(), out.Bytes()) {
					t.Errorf("%s, %s: got other bytes the second time", f.Name, name)
				}
			}
		}
	}
}

// Any name leaves a file that is valid for its format.
func TestWrite_HostileNames(t *testing.T) {
	for _, f := range Formats() {
		text := write(t, f.Name, hostile())
		switch f.Name {
		case "pprof":
			p, err := pprof.ParseData(text)
			if err != nil {
				t.Fatalf("pprof: %v", err)
			}
			for _, s := range append(p.Comments, p.Function[1].Name, p.Mapping[0].File, p.SampleType[1].Type) {
				if !utf8.ValidString(s) {
					t.Errorf("pprof: got %q; want UTF-8", s)
				}
			}
		case "folded":
			if !utf8.Valid(text) {
				t.Error("folded: got bytes that are no UTF-8")
			}
		default:
			var any map[string]any
			if err := json.Unmarshal(text, &any); err != nil || !utf8.Valid(text) {
				t.Errorf("%s: got %v; want JSON in UTF-8", f.Name, err)
			}
		}
	}
}

func TestWrite_NoSamples(t *testing.T) {
	p := recorded()
	p.Samples = nil
	for _, f := range Formats() {
		if err := Write(&bytes.Buffer{}, f.Name, p, Options{}); !errors.Is(err, errNoSamples) {
			t.Errorf("%s: got %v; want ErrNoSamples", f.Name, err)
		}
	}
	if err := Write(&bytes.Buffer{}, "svg", recorded(), Options{}); err == nil || !strings.Contains(err.Error(), `"svg"`) {
		t.Errorf("got %v; want an error with the unknown format", err)
	}
}

// fullDisk refuses all after a number of bytes.
type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		n := d.room
		d.room = 0
		return n, errFull
	}
	d.room -= len(b)
	return len(b), nil
}

// No error of the writer is lost, wherever it happens.
func TestWrite_FullDisk(t *testing.T) {
	for _, f := range Formats() {
		for _, p := range []*profile.Profile{recorded(), hostile()} {
			var out bytes.Buffer
			if err := Write(&out, f.Name, p, Options{}); err != nil {
				t.Fatal(err)
			}
			for _, room := range []int{0, 1, out.Len() / 2, out.Len() - 1} {
				if err := Write(&fullDisk{room}, f.Name, p, Options{}); !errors.Is(err, errFull) {
					t.Errorf("%s, %d of %d bytes: got %v; want the error of the disk", f.Name, room, out.Len(), err)
				}
			}
			if err := Write(&fullDisk{out.Len()}, f.Name, p, Options{}); err != nil {
				t.Errorf("%s, exact room: got %v", f.Name, err)
			}
		}
	}
}
