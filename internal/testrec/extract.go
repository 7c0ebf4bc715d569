package testrec

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Names of the recordings that hold a perf.data in file format, made with -k mono,
// with its dumps.
var Names = []string{"node-fp", "node-forks", "node-dwarf", "node-hot", "erlang", "php", "php-dwarf", "lli-hot", "toyjit"}

// Stacks are recordings with copies of stacks. They include skeletons of the files that the
// stacks run through, so that perf unwinds them as it did on the original machine.
var Stacks = []string{"node22-dwarf", "node25-dwarf", "node25-workers", "node24-debian", "php84-dwarf", "toyjit-dwarf", "llvm-orc", "python", "python-3.15"}

// testdata is the repository's directory of that name. Tests begin in the directory of their package,
// and may change to another. Where the compiler found this file does not count: with -trimpath,
// programs do not know it.
var testdata = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for up := dir; ; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil || up == filepath.Dir(up) {
			return filepath.Join(up, "testdata")
		}
	}
}()

// Path returns the path of a file of the repository's testdata directory.
func Path(elem ...string) string {
	return filepath.Join(append([]string{testdata}, elem...)...)
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
	return UnpackFile(Path("recordings", name+".tar.zst"), dir)
}

// UnpackFile unpacks an archive into a directory, without the archive's top directory.
func UnpackFile(archive, dir string) error {
	f, err := os.Open(archive)
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
		if h.Typeflag == tar.TypeDir {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
			return err
		}
		if h.Typeflag == tar.TypeSymlink {
			if err := os.Symlink(h.Linkname, filepath.Join(dir, path)); err != nil {
				return err
			}
			continue
		}
		out, err := os.Create(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		if err := errors.Join(copySparse(out, r, h.Size), out.Close()); err != nil {
			return err
		}
	}
}

// copySparse copies a file without its blocks of zeros.
func copySparse(out *os.File, in io.Reader, size int64) error {
	if err := out.Truncate(size); err != nil {
		return err
	}
	block, zeros := make([]byte, 4<<10), make([]byte, 4<<10)
	for at := int64(0); at < size; {
		n, err := io.ReadFull(in, block[:min(int64(len(block)), size-at)])
		if err != nil {
			return err
		}
		if !bytes.Equal(block[:n], zeros[:n]) {
			if _, err := out.WriteAt(block[:n], at); err != nil {
				return err
			}
		}
		at += int64(n)
	}
	return nil
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
