package showj9_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats/display"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
)

// Sections of metadata in records of a jitdump are chosen as those of captures are; a record that has
// none of them is not shown.
func TestOpenJ9SectionsOfRecords(t *testing.T) {
	t.Chdir(t.TempDir())
	b, blob := smallBody(t)
	showtest.Put(t, "jit-100.dump", j9Dump(t, x86Header(), b, blob, smallMethods, j9WarmCode, j9ColdCode))
	showtest.Put(t, "damaged.dump", j9Dump(t, x86Header(), b, blob[:len(blob)-4], nil, j9WarmCode, nil))
	for _, test := range []struct {
		file, types string
		address     uint64
		want        string
	}{
		{"jit-100.dump", "inline_stacks", 0, "Inline Stacks|Inline Stacks"},
		{"jit-100.dump", "exception_info,inline_stacks", j9Start, "Inline Stacks"},
		{"jit-100.dump", "load,stack_atlas", j9Cold, "Stack Atlas|JIT_CODE_LOAD"},
		{"damaged.dump", "other", 0, "error"},
	} {
		opts := show.Options{JSON: true}
		for s := range strings.SplitSeq(test.types, ",") {
			typ, err := show.ParseType(s, display.Formats())
			if err != nil {
				t.Fatal(err)
			}
			opts.Filter.Types = append(opts.Filter.Types, typ)
		}
		if test.address != 0 {
			opts.Filter.Address = show.Range{Set: true, First: test.address, Last: test.address}
		}
		var got []string
		for _, o := range objects(t, showtest.Shown(t, test.file, opts)) {
			if o["type"] == "file" {
				continue
			}
			got = append(got, o["type"].(string))
		}
		if s := strings.Join(got, "|"); s != test.want {
			t.Errorf("%s, %s: %q, want %q", test.file, test.types, s, test.want)
		}
	}
}

// A method whose source file is not known has lines of its class file, as functions do.
func TestOpenJ9FileOfClass(t *testing.T) {
	t.Chdir(t.TempDir())
	b, blob := smallBody(t)
	methods := slices.Clone(smallMethods)
	methods[0].File = nil
	showtest.Put(t, "jit-100.dump", j9Dump(t, x86Header(), b, blob, methods, j9WarmCode, j9ColdCode))
	out := string(showtest.Shown(t, "jit-100.dump", show.Options{}))
	if !strings.Contains(out, "name=a.Outer.run()V byteCodeIndex=0 a/Outer.class:") || strings.Contains(out, `"":`) {
		t.Error(out)
	}
}
