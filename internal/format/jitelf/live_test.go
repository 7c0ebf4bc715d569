package jitelf_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A jitted is a program that runs in lli, and waits for a signal that ends it.
type jitted struct {
	pid int
	dir string
}

// interpreted compiles testdata/inlines.cc and runs it in lli, until the test ends.
func interpreted(t *testing.T, flags []string, lli ...string) jitted {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs(filepath.Join("testdata", "inlines.cc"))
	if err != nil {
		t.Fatal(err)
	}
	code := filepath.Join(dir, "inlines.bc")
	testrec.Run(t, dir, testrec.Tool(t, "clang-14", "clang"), append([]string{"-O2", "-g", "-emit-llvm", "-c", "-fno-exceptions", "-o", code, source}, flags...)...)
	cmd := testrec.Command(t, dir, testrec.Tool(t, "lli-14", "lli"), append(lli, code)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return jitted{cmd.Process.Pid, dir}
}

// gdb runs a script in gdb, attached to the program.
func (j jitted) gdb(t *testing.T, script string) (string, error) {
	t.Helper()
	path := filepath.Join(j.dir, "script.py")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testrec.Tool(t, "gdb"), "-nx", "-batch", "-p", strconv.Itoa(j.pid), "-x", path)
	cmd.Env = append(os.Environ(), "HOME="+j.dir, "LC_ALL=C", "DEBUGINFOD_URLS=")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if strings.Contains(errs.String(), "ptrace: Operation not permitted") {
		testrec.Skip(t, "gdb may not attach: %s", errs.String())
	}
	if err == nil && strings.Contains(errs.String(), "Error") {
		err = fmt.Errorf("%s", errs.String())
	}
	return string(out), err
}

// symfiles returns the registered objects, as gdb reads them.
func (j jitted) symfiles(t *testing.T) (images [][]byte) {
	t.Helper()
	const script = `
import gdb, struct
inferior = gdb.selected_inferior()
at = int(gdb.parse_and_eval("(unsigned long)&__jit_debug_descriptor"))
entry, n = struct.unpack("<Q", inferior.read_memory(at + 16, 8))[0], 0
while entry:
    entry, _, file, size = struct.unpack("<QQQQ", inferior.read_memory(entry, 32))
    with open("%s/%%d.elf" %% n, "wb") as f:
        f.write(inferior.read_memory(file, size))
    n += 1
`
	for range 100 { // lli may still compile
		if out, err := j.gdb(t, fmt.Sprintf(script, j.dir)); err != nil {
			t.Fatalf("got gdb's error %v; want the symfiles or stacks\n%s", err, out)
		}
		paths, err := filepath.Glob(filepath.Join(j.dir, "*.elf"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			images = append(images, b)
		}
		if len(images) > 0 {
			return images
		}
	}
	t.Fatal("got no symfiles")
	return nil
}

// stacks returns the functions at addresses, the innermost first, as gdb finds them.
func (j jitted) stacks(t *testing.T, addrs []uint64) [][]testrec.Frame {
	t.Helper()
	out, err := j.gdb(t, testrec.GDBScript(addrs))
	if err != nil {
		t.Fatalf("got gdb's error %v; want the stacks\n%s", err, out)
	}
	var answers strings.Builder
	for line := range strings.Lines(out) { // gdb also prints the place where the program stopped
		if strings.HasPrefix(line, "0x") && strings.Contains(line, "\t") {
			answers.WriteString(line)
		}
	}
	stacks, err := testrec.GDBStacks(answers.String(), len(addrs))
	if err != nil {
		t.Fatalf("got %v from gdb; want stacks\n%s", err, out)
	}
	return stacks
}

// Lines and inlined calls of code in lli are those that gdb finds in the process, at every byte.
func TestDescribe_AgreesWithGDB(t *testing.T) {
	for version, options := range map[string][]string{
		"-gdwarf-4": {"-jit-kind=mcjit"},
		"-gdwarf-5": {"-jit-kind=orc", "-jit-linker=jitlink"},
	} {
		t.Run(strings.Join(options, "")+version, func(t *testing.T) {
			j := interpreted(t, []string{version}, options...)
			var addrs []uint64
			var want [][]testrec.Frame
			for _, image := range j.symfiles(t) {
				fns := functions(t, image)
				for i := range fns {
					if len(fns[i].Unwind.Sent.FDEs) == 0 {
						t.Errorf("%s: got no unwind table", fns[i].Name)
					}
					for off := range fns[i].Size {
						addrs = append(addrs, fns[i].Addr+off)
						want = append(want, stackAt(&fns[i], off))
					}
				}
			}
			if len(addrs) < 600 {
				t.Fatalf("got %d bytes of code; want more", len(addrs))
			}
			agree(t, j.stacks(t, addrs), want)
		})
	}
}

// agree compares stacks with those of gdb. Their innermost lines may differ where an address has
// several rows, or one without a line: see compare.
func agree(t *testing.T, theirs, ours [][]testrec.Frame) {
	t.Helper()
	gdb := &testrec.Symbolizer{Name: "gdb"}
	lines, differ, deep := 0, 0, 0
	for i := range ours {
		a, b := plain(ours[i], gdb), plain(theirs[i], gdb)
		if len(a) == len(b) && (a[0].Line != b[0].Line || a[0].File != b[0].File) {
			lines++
			a[0].Line, a[0].File = b[0].Line, b[0].File
		}
		if len(a) > 2 {
			deep++
		}
		if !slices.Equal(a, b) {
			if differ++; differ <= 5 {
				t.Errorf("byte %d: gdb has %v; got %v", i, b, a)
			}
		}
	}
	t.Logf("of %d bytes, %d have another line, %d have two inlined calls or more", len(ours), lines, deep)
	if lines*10 > len(ours) {
		t.Errorf("got %d bytes with another line, of %d; want less than a tenth", lines, len(ours))
	}
	if deep < 50 {
		t.Errorf("got %d bytes with two inlined calls; want 50 or more", deep)
	}
}
