package show_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// seeds are files of all formats, real ones where they are small.
func seeds(t testing.TB) (list [][]byte) {
	t.Helper()
	list = append(list, testrec.Hex(t, "../../jitdump/testdata/spec.hex"), testrec.Hex(t, "../../jitdump/testdata/debuginfo2.hex"), testrec.Hex(t, "../../jitdump/testdata/openj9.hex"), showtest.MonoLog(t, 17), showtest.MonoLog(t, 4),
		showtest.XRayTrace(t, binary.LittleEndian), showtest.XRayTrace(t, binary.BigEndian))
	for _, name := range []string{"node20.log", "node25.log"} {
		b, err := os.ReadFile("../format/v8log/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	for _, name := range []string{"lli-hot", "toyjit", "php"} {
		dir := testrec.Unpack(t, name)
		for _, path := range showtest.Dumps(t, dir) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(b) > 16<<10 {
				b = b[:16<<10]
			}
			list = append(list, b)
			if swapped, err := testrec.SwapFile(b); err == nil {
				list = append(list, swapped)
			}
		}
	}
	return list
}

// Whatever is in a file, it is shown or refused, without a panic and without much
// memory; all lines of JSON are JSON, and text has nothing that a terminal obeys.
func FuzzShow(f *testing.F) {
	ways := []show.Options{
		{}, {JSON: true, Hex: true, Disassemble: true}, {Disassemble: true, Hex: true},
		{JSON: true, Filter: show.Filter{Names: []show.Name{{Part: "a"}}, Address: show.Range{Set: true, First: 1, Last: 1 << 63}}},
		{Hex: true}, {JSON: true, Hex: true}, // -d is refused for some formats
	}
	for _, s := range seeds(f) {
		for way := range ways {
			f.Add(s, uint8(way))
		}
	}
	path := filepath.Join(f.TempDir(), "fuzzed")
	f.Fuzz(func(t *testing.T, content []byte, way uint8) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		opts := ways[int(way)%len(ways)]
		var out bytes.Buffer
		err := showtest.File(showtest.Limited{Out: &out}, path, &opts)
		var lost *show.LostOutput
		if errors.As(err, &lost) {
			return // there is a lot to be shown
		}
		for line := range bytes.Lines(out.Bytes()) {
			if opts.JSON && !json.Valid(line) {
				t.Fatalf("no JSON: %q", line)
			}
		}
		for _, c := range out.Bytes() {
			if c < ' ' && c != '\n' || c == 0x7f {
				t.Fatalf("byte %#x in the output", c)
			}
		}
		if !utf8.Valid(out.Bytes()) {
			t.Fatal("the output is not UTF-8")
		}
	})
}
