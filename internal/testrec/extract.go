package testrec

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Names of the recordings that hold a perf.data in file format, made with -k mono,
// with its dumps.
var Names = []string{"node-fp", "node-forks", "node-dwarf", "node-hot", "erlang", "php", "php-dwarf", "lli-hot", "toyjit"}

// Path returns the path of a file of the repository's testdata directory.
func Path(elem ...string) string {
	_, self, _, _ := runtime.Caller(0)
	return filepath.Join(append([]string{filepath.Dir(self), "..", "..", "testdata"}, elem...)...)
}

// Place unpacks a recording into a fresh directory, with markers that name the
// dumps there, and returns that.
func Place(t testing.TB, name string) string {
	t.Helper()
	dir := Unpack(t, name)
	if err := Relocate(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Unpack unpacks a recording as it is into a fresh directory and returns that.
// Its markers name paths of the machine that recorded it.
func Unpack(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := UnpackTo(name, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// UnpackTo unpacks a recording into a directory.
func UnpackTo(name, dir string) error {
	f, err := os.Open(Path("recordings", name+".tar.zst"))
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return err
	}
	defer z.Close()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, path, _ := strings.Cut(filepath.Clean(h.Name), "/") // without the recording's name
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
			return err
		}
		out, err := os.Create(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, r); err != nil {
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
	}
}

// Dumps returns the jitdumps in a directory.
func Dumps(t testing.TB, dir string) []string {
	t.Helper()
	dumps, err := filepath.Glob(filepath.Join(dir, "jit-*.dump"))
	if err != nil || len(dumps) == 0 {
		t.Fatalf("no dumps in %s: %v", dir, err)
	}
	return dumps
}

// Relocate rewrites the perf.data of an unpacked recording so that its mappings
// name the dumps and programs in that directory: perf inject looks for dumps
// nowhere else, and perf script 6.1 ends where it wants lines of a program that is
// not there. It understands files as perf record on x86-64 writes them, and nothing
// more.
func Relocate(dir string) error {
	path := filepath.Join(dir, "perf.data")
	in, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	dataAt, dataSize := le.Uint64(in[40:]), le.Uint64(in[48:])
	var data []byte
	for rest := in[dataAt : dataAt+dataSize]; len(rest) > 0; {
		size := le.Uint16(rest[6:])
		data = append(data, relocated(rest[:size], dir)...)
		rest = rest[size:]
	}
	out := append(append(bytes.Clone(in[:dataAt]), data...), in[dataAt+dataSize:]...)
	le.PutUint64(out[48:], uint64(len(data)))
	// The feature table follows the data: an offset and a size for each feature.
	// The first feature follows the table.
	was, is := dataAt+dataSize, dataAt+uint64(len(data))
	n := (le.Uint64(in[was:]) - was) / 16
	for ; n > 0; n, is = n-1, is+16 {
		le.PutUint64(out[is:], le.Uint64(out[is:])+uint64(len(data))-dataSize)
	}
	return os.WriteFile(path, out, 0o600)
}

// relocated returns a record with the directory of a name in dir replaced. Names
// stand in MMAP2 records behind 72 bytes and before a trailer of 16 bytes.
func relocated(rec []byte, dir string) []byte {
	const head, trailer = 72, 16
	if binary.LittleEndian.Uint32(rec) != 10 {
		return rec
	}
	name := string(bytes.TrimRight(rec[head:len(rec)-trailer], "\x00"))
	base := filepath.Base(name)
	if _, err := os.Stat(filepath.Join(dir, base)); err != nil || base == "." {
		return rec
	}
	abs, _ := filepath.Abs(dir)
	padded := append([]byte(filepath.Join(abs, base)), 0)
	for len(padded)%8 != 0 {
		padded = append(padded, 0)
	}
	out := append(bytes.Clone(rec[:head]), padded...)
	out = append(out, rec[len(rec)-trailer:]...)
	binary.LittleEndian.PutUint16(out[6:], uint16(len(out)))
	return out
}
