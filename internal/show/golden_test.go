package show_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/testrec"
)

var update = flag.Bool("update", false, "write what is shown into testdata")

// put writes a file into a fresh directory, and makes that the current one: names are
// part of what is shown.
func put(t testing.TB, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// golden compares what is shown with a file of testdata.
func golden(t *testing.T, testdata, name, got string) {
	t.Helper()
	path := filepath.Join(testdata, name)
	if *update {
		put(t, path, []byte(got))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s: line %d is\n%s\nand not\n%s\n(go test -run Golden -update, if that is right)", name, i+1, at(g, i), at(w, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// damaged are bytes of a dump with something wrong in its middle: a record whose size
// cannot be, one whose body contradicts itself, and an end that cuts another.
func damaged(dump []byte) []byte {
	b := bytes.Clone(dump)
	size := binary.LittleEndian.Uint32(b[44:])
	binary.LittleEndian.PutUint64(b[40+16+8:], 1<<40) // nr_entry
	second := 40 + size
	b = append(b[:second:second], append(bytes.Repeat([]byte{0xab}, 24), b[second:]...)...)
	return b[:len(b)-5]
}

// What is shown of small files of all kinds, byte for byte.
func TestGolden(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	spec := testrec.Hex(t, "../../jitdump/testdata/spec.hex")
	info2 := testrec.Hex(t, "../../jitdump/testdata/debuginfo2.hex")
	lli := testrec.Unpack(t, "lli-hot")
	t.Chdir(t.TempDir())
	put(t, "spec.dump", spec)
	put(t, "info2.dump", info2)
	put(t, "damaged.dump", damaged(spec))
	put(t, "small.data", smallRecording().Bytes())
	if err := os.CopyFS(".", os.DirFS(lli)); err != nil {
		t.Fatal(err)
	}
	all := show.Options{Hex: true, Disassemble: true}
	json := show.Options{Hex: true, Disassemble: true, JSON: true}
	golden(t, testdata, "spec.txt", whole(t, "spec.dump", all))
	golden(t, testdata, "spec.json", whole(t, "spec.dump", json))
	golden(t, testdata, "info2.txt", whole(t, "info2.dump", show.Options{Disassemble: true}))
	golden(t, testdata, "info2.json", whole(t, "info2.dump", show.Options{JSON: true}))
	golden(t, testdata, "damaged.txt", shown(t, "damaged.dump", show.Options{}))
	golden(t, testdata, "damaged.json", shown(t, "damaged.dump", show.Options{JSON: true}))
	golden(t, testdata, "small.txt", whole(t, "small.data", show.Options{}))
	golden(t, testdata, "small.json", whole(t, "small.data", show.Options{JSON: true}))
	for _, name := range []string{"toyjit.so", "bundle.so"} {
		b, err := os.ReadFile(filepath.Join(testdata, name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, name, b)
	}
	golden(t, testdata, "toyjit.txt", whole(t, "toyjit.so", show.Options{Disassemble: true}))
	golden(t, testdata, "bundle.txt", whole(t, "bundle.so", show.Options{}))
	golden(t, testdata, "toyjit.json", whole(t, "toyjit.so", show.Options{JSON: true}))
	golden(t, testdata, "lli-hot.txt", whole(t, "jit-585.dump", show.Options{Disassemble: true}))
}
