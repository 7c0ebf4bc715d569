package main

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Vectors are small recordings and dumps, most of them damaged, each with the outcome that the
// specifications demand. testdata/vectors has them as text, for readers in any language; its
// README.md has the format.

var update = flag.Bool("update", false, "write testdata/vectors anew")

// A vector is a recording with its dump, and what must come of it.
type vector struct {
	name      string
	comment   string // what is special about it
	rule      string // where the demand comes from, as README.md lists it
	exit      int
	message   string // part of a message on standard error; "" for none
	functions string // a word for each sample of the result: its function, "-" for none or "*" for any

	dump        func(d *vectorDump) // changes the dump; nil: it stays
	recording   func() []byte       // makes the recording; nil: soundRecording
	swapped     string              // names of files that get the other byte order
	withoutDump bool

	files []vectorFile // made from the fields above
}

type vectorFile struct {
	name    string
	content []byte
}

const vectorArgs = "-i perf.data -o out.data --dump-dir ."

// allVectors returns the vectors with their files.
func allVectors(t testing.TB) (list []vector) {
	t.Helper()
	add := func(prefix string, v vector) {
		rec, d := soundRecording().Bytes(), newVectorDump()
		if v.recording != nil {
			rec = v.recording()
		}
		if v.dump != nil {
			v.dump(d)
		}
		v.name, v.files = prefix+v.name, []vectorFile{{"perf.data", rec}}
		if !v.withoutDump {
			v.files = append(v.files, vectorFile{"jit-4711.dump", d.bytes()})
		}
		for i := range v.files {
			if f := &v.files[i]; slices.Contains(strings.Fields(v.swapped), f.name) {
				f.content = swappedFile(t, f.content)
			}
		}
		list = append(list, v)
	}
	for _, v := range dumpVectors {
		add("dump-", v)
	}
	for _, v := range recordingVectors {
		add("recording-", v)
	}
	return list
}

// text returns the vector's file.
func (v *vector) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "comment: %s\nrule: %s\nargs: %s\nexit: %d\n", v.comment, v.rule, vectorArgs, v.exit)
	if v.message != "" {
		fmt.Fprintf(&b, "message: %s\n", v.message)
	}
	if v.functions != "" {
		fmt.Fprintf(&b, "functions: %s\n", v.functions)
	}
	for _, f := range v.files {
		fmt.Fprintf(&b, "\nfile: %s\n", f.name)
		for line := range slices.Chunk(f.content, 32) {
			fmt.Fprintf(&b, "%x\n", line)
		}
	}
	return b.String()
}

// parseVector reads a vector's file, as README.md describes it.
func parseVector(name, text string) (v vector, err error) {
	v.name = name
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		key, value, isField := strings.Cut(line, ": ")
		switch {
		case line == "" || key == "rule" || key == "args":
		case key == "comment":
			v.comment = value
		case key == "exit":
			v.exit, err = strconv.Atoi(value)
		case key == "message":
			v.message = value
		case key == "functions":
			v.functions = value
		case key == "file":
			v.files = append(v.files, vectorFile{name: value})
		case !isField && len(v.files) > 0:
			var b []byte
			b, err = hex.DecodeString(line)
			f := &v.files[len(v.files)-1]
			f.content = append(f.content, b...)
		default:
			err = fmt.Errorf("%s: got the line %q; want a field or hex digits", name, line)
		}
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

var vectorDir = filepath.Join("..", "..", "testdata", "vectors")

// The files are those of the table; -update writes them.
func TestVectors_FilesAreThoseOfTheTable(t *testing.T) {
	want := make(map[string]string)
	for _, v := range allVectors(t) {
		if want[v.name+".txt"] != "" {
			t.Errorf("got two vectors %s; want one", v.name)
		}
		want[v.name+".txt"] = v.text()
	}
	if *update {
		if err := os.MkdirAll(vectorDir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(vectorDir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	paths, err := filepath.Glob(filepath.Join(vectorDir, "*.txt"))
	if err != nil || len(paths) != len(want) {
		t.Errorf("got %d files in testdata/vectors, %v; want %d", len(paths), err, len(want))
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(path); string(b) != want[name] {
			t.Errorf("%s: got another text than the table's; want it written by go test -run Vectors -update", name)
		}
	}
}

// Each vector has the outcome that it demands. The files are read, not the table: who changes them
// sees what the program does.
func TestVectors_OutcomeIsDemanded(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(vectorDir, "*.txt"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("got %d vectors, %v; want 50 at least", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			v, err := parseVector(name, string(b))
			if err != nil {
				t.Fatal(err)
			}
			stageVector(t, &v)
			v.judge(t)
		})
	}
}

// stageVector writes the files of a vector into a new directory, and goes there.
func stageVector(t *testing.T, v *vector) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, f := range v.files {
		if err := os.WriteFile(f.name, f.content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// judge runs the program on a staged vector.
func (v *vector) judge(t *testing.T) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var stderr bytes.Buffer
	code := run(append([]string{"jitinject", "--no-sync"}, strings.Fields(vectorArgs)...), null, null, &stderr)
	if code != v.exit {
		t.Errorf("got exit code %d; want %d\n%s", code, v.exit, stderr.String())
	}
	if !strings.Contains(stderr.String(), v.message) || (v.message == "" && code != exitOK) {
		t.Errorf("got the message %q; want %q in it", stderr.String(), v.message)
	}
	if code != exitOK && code != exitIncomplete {
		names, err := filepath.Glob("*")
		if err != nil || len(names) != len(v.files) {
			t.Errorf("got the files %q, %v; want only the %d of the vector", names, err, len(v.files))
		}
		return
	}
	got, err := resolvedNames("out.data")
	if err != nil || !sameNames(got, strings.Fields(v.functions)) {
		t.Errorf("got samples in %q, %v; want %q\n%s", got, err, v.functions, stderr.String())
	}
}
