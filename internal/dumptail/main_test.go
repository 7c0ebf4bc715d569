package dumptail

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

func TestMain(m *testing.M) { testrec.Main(m) }

// compile compiles testdata/writer.c, and returns the path of the program.
func compile(t *testing.T, compilers []string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "writer")
	testrec.Run(t, ".", testrec.Tool(t, compilers...), append([]string{"-O1", "-Wall", "-Werror", "-o", program, filepath.Join("testdata", "writer.c")}, flags...)...)
	return program
}

// gcc are the compilers for glibc.
var gcc = []string{"gcc", "cc"}

// A writer is a running testdata/writer.c.
type writer struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	dir string
}

// startWriter starts a writer. number is that in the name of the dump, or none for its pid.
func startWriter(t *testing.T, program, mode string, number ...string) *writer {
	t.Helper()
	w := &writer{t: t, dir: t.TempDir()}
	w.cmd = exec.Command(program, append([]string{w.dir, mode, "0x110000000000"}, number...)...)
	in, out := testrec.Start(t, w.cmd)
	w.in, w.out = in, bufio.NewReader(out)
	return w
}

// do gives the writer a command, and returns the answer.
func (w *writer) do(command string) string {
	w.t.Helper()
	fmt.Fprintln(w.in, command)
	answer, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatalf("%s: got error %v; want an answer", command, err)
	}
	return strings.TrimSuffix(answer, "done\n")
}

// pid returns the number of the process.
func (w *writer) pid() uint32 { return uint32(w.cmd.Process.Pid) }

// path returns the path of the dump.
func (w *writer) path() string { return filepath.Join(w.dir, fmt.Sprintf("jit-%d.dump", w.pid())) }

// dump returns the one dump of the process.
func (w *writer) dump() *Dump {
	w.t.Helper()
	dumps, err := Dumps(w.pid())
	if err != nil || len(dumps) != 1 {
		w.t.Fatalf("got dumps %+v, %v; want one", dumps, err)
	}
	return &dumps[0]
}

// read returns the contents of the dump.
func (w *writer) read() []byte {
	w.t.Helper()
	b, err := os.ReadFile(w.path())
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// loads returns the number of functions in a dump, and whether all of it consists of records.
func loads(t *testing.T, dump []byte) (n int, whole bool) {
	t.Helper()
	r, err := jitdump.NewReader(bytes.NewReader(dump))
	if err != nil {
		t.Fatal(err)
	}
	for {
		raw, err := r.Next()
		if err != nil {
			return n, errors.Is(err, io.EOF)
		}
		if raw.ID == jitdump.IDLoad {
			n++
		}
	}
}
