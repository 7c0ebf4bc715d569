package showjitdump_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// What is shown of small dumps, byte for byte.
func TestGolden(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	spec := testrec.Hex(t, "../../../jitdump/testdata/spec.hex")
	info2 := testrec.Hex(t, "../../../jitdump/testdata/debuginfo2.hex")
	lli := testrec.Unpack(t, "lli-hot")
	t.Chdir(t.TempDir())
	showtest.Put(t, "spec.dump", spec)
	showtest.Put(t, "info2.dump", info2)
	showtest.Put(t, "damaged.dump", damaged(spec))
	if err := os.CopyFS(".", os.DirFS(lli)); err != nil {
		t.Fatal(err)
	}
	all := show.Options{Hex: true, Disassemble: true}
	json := show.Options{Hex: true, Disassemble: true, JSON: true}
	showtest.Golden(t, testdata, "spec.txt", showtest.Whole(t, "spec.dump", all))
	showtest.Golden(t, testdata, "spec.json", showtest.Whole(t, "spec.dump", json))
	showtest.Golden(t, testdata, "info2.txt", showtest.Whole(t, "info2.dump", show.Options{Disassemble: true}))
	showtest.Golden(t, testdata, "info2.json", showtest.Whole(t, "info2.dump", show.Options{JSON: true}))
	showtest.Golden(t, testdata, "damaged.txt", showtest.Shown(t, "damaged.dump", show.Options{}))
	showtest.Golden(t, testdata, "damaged.json", showtest.Shown(t, "damaged.dump", show.Options{JSON: true}))
	showtest.Golden(t, testdata, "lli-hot.txt", showtest.Whole(t, "jit-585.dump", show.Options{Disassemble: true}))
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
