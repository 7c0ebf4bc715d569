package monolog

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/made.txt anew, with the mprof-report that is installed")

// made returns a log of a version with events in a buffer.
func made(tb testing.TB, version, ptrSize uint8, events []Event) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := newWriter(&out, madeHeader(version, ptrSize))
	if err != nil {
		tb.Fatal(err)
	}
	b := BufferHeader{Time: 1e12, PtrBase: madePtr + 0x40, ObjBase: (madeObj + 128) >> 3, Thread: madePtr + 0x900, MethodBase: madeMethod + 0x1000}
	if err := w.Buffer(b); err != nil {
		tb.Fatal(err)
	}
	for i := range events {
		if err := w.Event(&events[i]); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// All kinds of events of all versions come back as they were written.
func TestWriter_EveryVersion(t *testing.T) {
	kindsSeen := make(map[Kind]bool)
	for version := uint8(MinVersion); version <= MaxVersion; version++ {
		for _, ptrSize := range []uint8{4, 8} {
			t.Run(fmt.Sprintf("%d-%d", version, ptrSize), func(t *testing.T) {
				events := madeEvents(version)
				log := made(t, version, ptrSize, events)
				r, err := NewReader(bytes.NewReader(log))
				if err != nil {
					t.Fatal(err)
				}
				want := madeHeader(version, ptrSize)
				want.Size = r.Header().Size
				if !reflect.DeepEqual(r.Header(), want) {
					t.Errorf("got %+v, want %+v", r.Header(), want)
				}
				b, err := r.NextBuffer()
				if err != nil {
					t.Fatal(err)
				}
				at := b.Offset + bufferHeaderSize
				for i := range events {
					want := events[i]
					e, err := r.Next()
					if err != nil {
						t.Fatalf("%d, %+v: %v", i, want, err)
					}
					kindsSeen[e.Kind] = true
					if e.Offset != at {
						t.Errorf("%s: offset %#x, expected %#x", e.Kind, e.Offset, at)
					}
					at += e.Length
					// What the event alone does not say, and what is the same whether there is nothing or none.
					want.Offset, want.Length, want.Type, want.Info = e.Offset, e.Length, e.Type, e.Info
					if got, want := fmt.Sprintf("%+v", *e), fmt.Sprintf("%+v", want); got != want {
						t.Errorf("event %d:\n got %s\nwant %s", i, got, want)
					}
				}
				if _, err := r.Next(); err != io.EOF {
					t.Errorf("at the end of the buffer: %v", err)
				}
				if _, err := r.NextBuffer(); err != io.EOF {
					t.Errorf("at the end: %v", err)
				}
				if at != int64(len(log)) {
					t.Errorf("events end at %#x of %#x", at, len(log))
				}
			})
		}
	}
	for k := KindAlloc; k < kinds; k++ {
		if !kindsSeen[k] {
			t.Errorf("no event %s", k)
		}
	}
}

// mprofUnsure is what mprof-report prints of monitors in version 13, where it takes the
// event from nowhere: neither its place before version 13, nor that since 14.
var mprofUnsure = regexp.MustCompile(`(?m)^monitor .* for`)

// mprof-report reads all versions, so it is asked about each.
func TestWriter_ReadByMprofReport(t *testing.T) {
	stored, err := os.ReadFile("testdata/made.txt")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		stored = nil
	}
	var all strings.Builder
	for version := uint8(MinVersion); version <= MaxVersion; version++ {
		log := made(t, version, 8, madeEvents(version))
		title := fmt.Sprintf("== data version %d\n", version)
		if *update {
			path := filepath.Join(t.TempDir(), "made.mlpd")
			if err := os.WriteFile(path, log, 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("mprof-report", "--debug", path).CombinedOutput()
			if err != nil {
				t.Fatalf("unexpected error: %v\n%s", err, out)
			}
			text, _, _ := strings.Cut(string(out), "\nMono log profiler data")
			fmt.Fprintf(&all, "%s%s\n", title, strings.TrimSpace(text))
			continue
		}
		_, text, ok := strings.Cut(string(stored), title)
		if !ok {
			t.Fatalf("nothing about version %d", version)
		}
		text, _, _ = strings.Cut(text, "== data")
		r, err := NewReader(bytes.NewReader(log))
		if err != nil {
			t.Fatal(err)
		}
		var ours bytes.Buffer
		if _, err := new(mprof).print(r, &ours); err != nil {
			t.Fatal(err)
		}
		got := ours.String()
		text = string(mprofNoise.ReplaceAll([]byte(text), nil))
		if version == 13 {
			got, text = mprofUnsure.ReplaceAllString(got, "monitor for"), mprofUnsure.ReplaceAllString(text, "monitor for")
		}
		if strings.TrimSpace(got) != strings.TrimSpace(text) {
			a, b := strings.Split(got, "\n"), strings.Split(text, "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Fatalf("version %d, line %d:\n got %s\nwant %s", version, i+1, a[i], b[i])
				}
			}
			t.Fatalf("version %d: %d lines, mprof-report prints %d", version, len(a), len(b))
		}
	}
	if *update {
		if err := os.WriteFile("testdata/made.txt", []byte(all.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
