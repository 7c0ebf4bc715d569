package recording

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/faults"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// A header feature that cannot be read is not taken for a missing one: the result depends on the
// machine and the clock of the recording.
func TestRecording_FeatureUnreadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perf.data")
	rec := testrec.NewRecording()
	rec.Machine = "x86_64"
	rec.Sample(1, 1000, 0x1000)
	rec.Write(t, path)
	in, err := Open(&config.Options{Input: path})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := New(in); err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
	if in.File.Feature(perfdata.FeatureArch) == nil {
		t.Fatalf("got the features %v; want ARCH among them", in.File.Features)
	}
	restore := sys.Use(&faults.Fault{N: 1})
	_, err = New(in)
	restore()
	if !errors.Is(err, unix.EIO) {
		t.Errorf("got %v; want %v", err, unix.EIO)
	}
}

// A disk that fails says nothing about a file.
func TestOpenELF_Fails(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		f := &faults.Fault{N: n}
		restore := sys.Use(f)
		file, image, err := OpenELF(program)
		restore()
		if f.Happened() == "" {
			if err != nil || image == nil {
				t.Fatalf("got %v, %v; want the program opened", image, err)
			}
			file.Close()
			break
		}
		if !errors.Is(err, unix.EIO) || image != nil {
			t.Errorf("%s: got %v, %v; want %v", f.Happened(), image, err, unix.EIO)
		}
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no ELF file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, text + "x", filepath.Dir(text)} {
		if _, image, err := OpenELF(path); image != nil || err != nil {
			t.Errorf("%s: got %v, %v; want neither a file nor an error", path, image, err)
		}
	}
}
