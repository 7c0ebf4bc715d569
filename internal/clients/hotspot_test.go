package clients

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// hotspot shows what its perfparser makes of a recording: a stream of events, each a
// length (little-endian) and a body as Qt's QDataStream writes it (big-endian). Which
// field is which was found by looking at streams of hotspot 1.3.

// Types of events, the first byte of a body.
const (
	locationEvent = 3
	symbolEvent   = 4
	stringEvent   = 5
	sampleEvent   = 13
)

// parserSymbols returns two functions for each sample, "" for none: the innermost, and
// the one into which that was inlined, or itself.
func parserSymbols(t *testing.T, stream []byte) (inner, outer []string) {
	t.Helper()
	rest, ok := bytes.CutPrefix(stream, []byte("QPERFSTREAM\x00"))
	if !ok || len(rest) < 4 {
		t.Fatalf("it begins with % x", stream[:min(len(stream), 16)])
	}
	rest = rest[4:] // version of the stream
	be := binary.BigEndian
	texts, names, parents := make(map[uint32]string), make(map[uint32]uint32), make(map[uint32]uint32)
	for len(rest) >= 4 {
		size := binary.LittleEndian.Uint32(rest)
		if uint64(size) > uint64(len(rest)-4) || size < 5 {
			t.Fatalf("an event of %d bytes, and %d are left", size, len(rest)-4)
		}
		body := rest[4 : 4+size]
		rest = rest[4+size:]
		id := be.Uint32(body[1:])
		switch body[0] {
		case stringEvent: // id, length, text
			texts[id] = string(body[9:])
		case symbolEvent: // location, name, ...
			names[id] = be.Uint32(body[5:])
		case locationEvent: // id, address, file, pid, line, column, that of the function
			parents[id] = be.Uint32(body[len(body)-4:])
		case sampleEvent: // pid, tid, time, cpu, number of frames, their locations
			if be.Uint32(body[21:]) == 0 {
				inner, outer = append(inner, ""), append(outer, "")
				continue
			}
			var found []string
			const none = 1<<32 - 1
			for at := be.Uint32(body[25:]); at != none && len(found) < 100; at = parents[at] {
				if name, ok := names[at]; ok {
					found = append(found, texts[name])
				}
			}
			if len(found) == 0 {
				found = []string{""}
			}
			inner, outer = append(inner, found[0]), append(outer, found[len(found)-1])
		}
	}
	return inner, outer
}

// perfSymbols returns the function of each sample in jitted code, "" for others, as perf
// script tells it.
func perfSymbols(t *testing.T, r *result) (symbols []string) {
	t.Helper()
	for line := range strings.Lines(r.run(testrec.Tool(t, "perf"), "script", "-G", "-f", "-F", "ip,sym,dso", "-i", "out.data")) {
		name, _, jitted := strings.Cut(strings.TrimSpace(line), " ("+r.path("objects")+"/")
		if _, name, _ = strings.Cut(name, " "); !jitted {
			name = ""
		}
		symbols = append(symbols, name)
	}
	return symbols
}

// perfparser gives every sample in jitted code the name that perf gives it, and says what
// was inlined. Where jitted functions lie side by side, bundles are what it wants, or
// objects in /tmp/jitted-*: it lets an object begin a header's length in front of its
// code and leaves out those that overlap so. Where it also unwinds copied stacks, it may
// then, in 1.3, use debugging information of which nothing is left, and crash.
func TestHotspot_NamesAndInlines(t *testing.T) {
	parser := perfparser(t)
	type result struct {
		recording string
		bundle    bool
		inlines   bool
	}
	for _, c := range testrec.Few([]result{
		{"node-hot", false, false}, {"node-hot", true, false}, {"php", false, false}, {"lli-hot", true, false}, {"toyjit", true, true},
		{"toyjit-dwarf", false, true}, {"toyjit-dwarf", true, true}, {"php-dwarf", false, false}, {"php-dwarf", true, false},
		{"php84-dwarf", false, false}, {"php84-dwarf", true, false}, {"node-dwarf", false, false}, {"node-dwarf", true, false},
	}, 3) {
		t.Run(fmt.Sprintf("%s bundle=%v", c.recording, c.bundle), func(t *testing.T) {
			r := injected(t, c.recording, inject.Options{Bundle: c.bundle})
			r.run(parser, "--input", r.path("out.data"), "--output", r.path("stream"))
			stream, err := os.ReadFile(r.path("stream"))
			if err != nil {
				t.Fatal(err)
			}
			inner, outer := parserSymbols(t, stream)
			want := perfSymbols(t, r)
			if len(want) != len(outer) {
				t.Fatalf("%d samples, perf shows %d", len(outer), len(want))
			}
			jitted, other, inlined := 0, 0, 0
			for i := range want { // both in the order of their times
				switch {
				case want[i] == "":
					continue
				case outer[i] == "":
					t.Errorf("sample %d has no name, perf shows %q", i, want[i])
				case outer[i] != want[i]:
					other++
				}
				jitted++
				if inner[i] != outer[i] {
					inlined++
				}
			}
			// A place that a function was inlined into is shared between all callers that
			// have it, so that perfparser may find one where it is not the right one.
			if other > 0 && !c.inlines || other > jitted/10 {
				t.Errorf("%d of %d samples in jitted code are in another function than perf shows", other, jitted)
			}
			if jitted == 0 || (inlined > 0) != c.inlines {
				t.Errorf("%d samples in jitted code, %d of them in inlined functions", jitted, inlined)
			}
		})
	}
}

// perfparser returns hotspot's program, which is not in PATH.
func perfparser(t *testing.T) string {
	t.Helper()
	paths, _ := filepath.Glob("/usr/lib/*/libexec/hotspot-perfparser")
	if len(paths) > 0 {
		return paths[0]
	}
	return testrec.Tool(t, "hotspot-perfparser")
}
