package show

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A dump may name thousands of large files. Those used lately are kept.
func TestSourceTexts_GivesUpFiles(t *testing.T) {
	texts := &SourceTexts{read: func(string) ([]byte, error) { return bytes.Repeat([]byte("line\n"), 200_000), nil },
		files: make(map[string]SourceText), own: make(map[string]SourceText), was: make(map[string]bool)}
	for i := range 200 {
		if s := texts.Of(fmt.Sprint("/no such directory/", i)); len(s) != 200_000 {
			t.Fatalf("got %d lines; want 200000", len(s))
		}
		kept := 0
		for _, s := range texts.files {
			kept += 5 * len(s)
		}
		if kept > maxSourcesHeld {
			t.Fatalf("got %d bytes kept of %d files; want %d at most", kept, i+1, maxSourcesHeld)
		}
	}
}

// A log may have any number of long names. They are not all kept to compare each once.
func TestMentionShared_GivesUpNames(t *testing.T) {
	v := &Viewer{Opts: &Options{Filter: Filter{Names: []Name{{Part: "zz"}}}}}
	m := v.newMatcher()
	for i := range 300 {
		MentionShared(&m.Form, strings.Repeat(fmt.Sprint(i%10), 200_000))
		kept := 0
		for _, s := range m.shared {
			kept += len(s.name)
		}
		if kept > 32<<20 {
			t.Fatalf("got %d bytes kept of %d names; want %d at most", kept, i+1, 32<<20)
		}
	}
	if m.name {
		t.Error("got a name that matches; want none")
	}
	if MentionShared(&m.Form, strings.Repeat("z", 200_000)); !m.name {
		t.Error("got no name that matches; want the last one")
	}
}
