package jvmti_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/jitdump"
)

// checkOptions compares what the agent makes of a text with what the README says.
func checkOptions(t *testing.T, text string, answer []byte) {
	t.Helper()
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		text = text[1 : n-1]
	}
	dir, short, good := ".", uint32(0), true
	for option := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(option, "=")
		switch {
		case !good || option == "":
		case ok && name == "dir" && value != "" && len(value) < 4096:
			dir = value
		case ok && name == "names" && value == "short":
			short = 1
		case ok && name == "names" && value == "full":
			short = 0
		default:
			good = false
		}
	}
	if len(answer) < 4 {
		t.Fatal(errAnswer)
	}
	complaints := binary.NativeEndian.Uint32(answer)
	got, rest, err := cut(answer[4:])
	if err != nil || len(rest) != 4 {
		t.Fatal(errAnswer)
	}
	if (complaints == 0) != good || good && (string(got) != dir || binary.NativeEndian.Uint32(rest) != short) {
		t.Errorf("%q: got %q, %d complaints; want %q, good: %v, short: %d", text, got, complaints, dir, good, short)
	}
}

// mapPlaces returns what another VM's map says: frames of the compiled method only, each up to the
// place that follows.
func mapPlaces(p *posted) (all []postedPlace) {
	for i, place := range p.places {
		end, bci := int(p.size), 0
		if i+1 < len(p.places) {
			end = p.places[i+1].end
		}
		if len(place.frames) > 0 {
			bci = place.frames[0].bci
		}
		all = append(all, postedPlace{end, []postedFrame{{p.outer, bci}}})
	}
	return all
}

// checkPlaces compares a function's record with what was posted.
func checkPlaces(t *testing.T, all []answered, err error, p *posted, undisturbed bool) {
	t.Helper()
	if err != nil || len(all) > 1 || undisturbed && (len(all) != 1 || all[0].name != p.facts.name(p.outer) || len(all[0].body) == 0) {
		t.Fatalf("got %+v, %v; want %q with a record", all, err, p.facts.name(p.outer))
	}
	if len(all) == 0 || len(all[0].body) == 0 {
		return
	}
	d := &dumped{Load: jitdump.Load{Name: []byte(all[0].name), CodeSize: p.size}}
	if err := d.read(all[0].body, binary.NativeEndian); err != nil || all[0].id != idDebugInfo2 {
		t.Fatalf("record %d: %v", all[0].id, err)
	}
	if undisturbed {
		if err := p.check(d); err != nil {
			t.Fatal(err)
		}
	}
}

// checkOpenJ9 reads a record of metadata. Where j9meta understands the metadata, the record has the
// methods that j9meta finds in it and the VM knows.
func checkOpenJ9(t *testing.T, all []answered, err error, methods fuzzFacts, blob []byte, undisturbed bool) {
	t.Helper()
	if err != nil || len(all) > 1 {
		t.Fatalf("got %+v, %v; want one function", all, err)
	}
	if len(all) == 0 || len(all[0].body) == 0 {
		return
	}
	raw := all[0].raw(t)
	m, err := raw.OpenJ9Metadata()
	if err == nil {
		err = m.CheckTables()
	}
	if err != nil {
		t.Fatal(err)
	}
	size := min(len(m.Metadata), len(blob)) // the rest of a page is 0
	if m.Base != fuzzMetadata || !bytes.Equal(m.Metadata[:size], blob[:size]) {
		t.Fatalf("got metadata of %d bytes at %#x; want the posted ones at %#x", len(m.Metadata), m.Base, fuzzMetadata)
	}
	body, err := j9meta.Decode(m.Metadata, m.Base, j9build64("", "").layout)
	if err != nil || !undisturbed {
		return
	}
	want := make(map[uint64]string)
	for _, method := range methodsOf(body) {
		if i := (method - fuzzMethod) / methodSize; method%methodSize == 0 && i < uint64(len(methods)) {
			j := &methods[i]
			parts := []string{realUTF8(bareClass(j.class)), realUTF8(j.name), realUTF8(j.descriptor), methods.file(int(i))}
			if !slices.ContainsFunc(parts, func(s string) bool { return len(s) > 1<<16-1 }) {
				for _, l := range methods.lines(int(i)) {
					if l.bci >= 0 {
						parts = append(parts, fmt.Sprint(jitdump.JavaLine{ByteCodeIndex: uint32(l.bci), Line: l.line}))
					}
				}
				want[method] = strings.Join(parts, " ")
			}
		}
	}
	for _, j := range m.Methods {
		got := fmt.Sprintf("%s %s %s %s", j.Class, j.Name, j.Signature, j.File)
		for _, l := range j.Lines {
			got += fmt.Sprint(" ", l)
		}
		if got != want[j.Method] {
			t.Errorf("method %#x: got %q; want %q", j.Method, got, want[j.Method])
		}
		delete(want, j.Method)
	}
	if len(want) != 0 {
		t.Errorf("got %d methods; want %v, too", len(m.Methods), want)
	}
}
