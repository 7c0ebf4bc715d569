package showj9_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
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
	b.OSR = nil
	j9gen.Lay(b)
	without, err := j9gen.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	showtest.Put(t, "jit-101.dump", j9Dump(t, x86Header(), b, without, nil, j9WarmCode, j9ColdCode))
	showtest.Put(t, "damaged.dump", j9Dump(t, x86Header(), b, without[:len(without)-4], nil, j9WarmCode, nil))
	const record = "JITINJECT_OPENJ9_METADATA"
	for _, test := range []struct {
		file, types string
		address     uint64
		want        string
	}{
		{"jit-100.dump", "inline_stacks", 0, record + " Inline Stacks|" + record + " Inline Stacks"},
		{"jit-100.dump", "exception_info,osr_info", j9Start, record + " Exception Info,OSR Info"},
		{"jit-100.dump", "methods", 0, record + " methods|" + record + " methods"},
		{"jit-100.dump", "load,inline_info", j9Cold, record + " Inline Info|JIT_CODE_LOAD "},
		{"jit-101.dump", "osr_info", 0, ""},
		{"jit-101.dump", "methods", 0, ""},
		{"damaged.dump", "osr_info", 0, record + " |error "},
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
			var parts []string
			if len(o.list("methods")) > 0 {
				parts = append(parts, "methods")
			}
			for _, s := range o.list("sections") {
				parts = append(parts, s["section"].(string))
			}
			got = append(got, o["type"].(string)+" "+strings.Join(parts, ","))
		}
		if s := strings.Join(got, "|"); s != test.want {
			t.Errorf("%s, %s: %q, want %q", test.file, test.types, s, test.want)
		}
	}
}

// With names, -d shows the code of captures of methods with that name, and where they are inlined. Captures that
// are not asked for are not asked for their code either.
func TestOpenJ9CodeOfNames(t *testing.T) {
	t.Chdir(t.TempDir())
	b, blob := smallBody(t)
	other := slices.Clone(smallMethods)
	other[0].Class, other[1].Class = []byte("a/Other"), []byte("a/Another")
	putCapture(t, "small", b, blob, smallMethods, j9WarmCode, j9ColdCode)
	putCapture(t, "without", b, blob, other, nil, nil)
	for _, test := range []struct {
		file, name string
		want       string // addresses of code
		err        string
	}{
		{"small.bin", "a.Outer", "0x7f8800001020 0x7f8800001120", ""},
		{".", "a.Outer", "0x7f8800001020 0x7f8800001120", ""},
		{".", "String.charAt", "0x7f8800001020 0x7f8800001120", ""}, // in both parts
		{"small.bin", "unloaded", "0x7f8800001020", ""},
		{".", "a.Other", "", "without.bin: the capture has no code to disassemble"},
		{".", "Another", "", "without.bin: the capture has no code to disassemble"},
		{".", "nobody", "", show.ErrNoMatch.Error()},
	} {
		var out bytes.Buffer
		err := showtest.File(&out, test.file, &show.Options{JSON: true, Disassemble: true, Filter: show.Filter{Names: []show.Name{{Part: test.name}}}})
		if err == nil && test.err != "" || err != nil && (test.err == "" || !strings.HasPrefix(err.Error(), test.err)) {
			t.Errorf("%s, %s: %v, want %q", test.file, test.name, err, test.err)
		}
		var got []string
		for _, o := range objects(t, out.String()) {
			if o["type"] == "code" {
				got = append(got, o["code_addr"].(string))
			}
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s, %s: code at %q, want %q", test.file, test.name, s, test.want)
		}
	}
	address := show.Filter{Address: show.Range{Set: true, First: j9Start + 0x80, Last: j9Start + 0x80}} // between warm and cold
	if err := showtest.File(new(bytes.Buffer), ".", &show.Options{Disassemble: true, Filter: address}); !errors.Is(err, show.ErrNoMatch) {
		t.Errorf("at another address: %v", err)
	}
	if err := os.Remove("small.cold"); err != nil {
		t.Fatal(err)
	}
	var damaged *show.Damaged
	if err := showtest.File(new(bytes.Buffer), "small.bin", &show.Options{Disassemble: true}); !errors.As(err, &damaged) || !strings.Contains(err.Error(), `its JSON names "small.cold" as cold_code: there is no such file`) {
		t.Errorf("with code that is missing: %v", err)
	}
}

// Code of a capture that does not say of which machine it is is not disassembled, and the key is named.
func TestOpenJ9CodeOfNoMachine(t *testing.T) {
	t.Chdir(t.TempDir())
	b, blob := smallBody(t)
	b.Layout.Machine = 0
	putCapture(t, "small", b, blob, smallMethods, j9WarmCode, nil)
	if out := showtest.Whole(t, "small.bin", show.Options{Disassemble: true}); !strings.Contains(out, `small.json does not name the machine of the code: it has no \"machine\"`) || !strings.Contains(out, ".byte") {
		t.Error(out)
	}
}

// Code in a directory that is called like metadata is no metadata whose JSON is missing.
func TestOpenJ9CodeCalledBin(t *testing.T) {
	t.Chdir(t.TempDir())
	b, blob := smallBody(t)
	putCapture(t, "small", b, blob, smallMethods, j9WarmCode, nil)
	text, err := os.ReadFile("small.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("small.warm", "code.bin"); err != nil {
		t.Fatal(err)
	}
	showtest.Put(t, "small.json", bytes.Replace(text, []byte("small.warm"), []byte("code.bin"), 1))
	showtest.Whole(t, ".", show.Options{Disassemble: true})
	showtest.Put(t, "alone.bin", blob)
	if err := showtest.File(new(bytes.Buffer), ".", &show.Options{}); err == nil || !strings.HasPrefix(err.Error(), "alone.bin: a capture needs a JSON file") {
		t.Error(err)
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
	if !strings.Contains(out, "a.Outer.run()V@0 a/Outer.class:") || strings.Contains(out, `"":`) {
		t.Error(out)
	}
}
