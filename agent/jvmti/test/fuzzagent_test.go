package jvmti_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// fuzzProgram names fuzzagent for the processes that Go's fuzzing starts.
const fuzzProgram = "JITINJECT_FUZZAGENT"

// buildFuzzAgent compiles the agent's sources and fuzzagent.c, but not those that it replaces.
func buildFuzzAgent(f *testing.F) string {
	f.Helper()
	if exe := os.Getenv(fuzzProgram); exe != "" {
		return exe
	}
	javac, err := filepath.EvalSymlinks(testrec.Tool(f, "javac"))
	if err != nil {
		f.Fatal(err)
	}
	include := filepath.Join(filepath.Dir(filepath.Dir(javac)), "include")
	exe := filepath.Join(f.TempDir(), "fuzzagent")
	args := []string{"-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", exe,
		"-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I..", "-I" + include, "-I" + include + "/linux",
		"-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=free", "testdata/fuzzagent.c", "testdata/fuzzvm.c", "testdata/fuzzdump.c"}
	sources, err := filepath.Glob("../*.c")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range sources {
		switch filepath.Base(s) {
		case "agent.c", "dump.c", "say.c":
		default:
			args = append(args, s)
		}
	}
	// The other tests have gcc. clang's UBSan also sees what is computed from a null pointer.
	if out, err := exec.Command(testrec.Tool(f, "clang"), args...).CombinedOutput(); err != nil {
		f.Fatalf("clang: %v\n%s", err, out)
	}
	f.Setenv(fuzzProgram, exe)
	return exe
}

// A fuzzAgent is a running fuzzagent, or none.
type fuzzAgent struct {
	exe    string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	reader *bufio.Reader
	stderr bytes.Buffer
}

func (a *fuzzAgent) start() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close()
	a.cmd = exec.Command(a.exe)
	a.stderr.Reset()
	a.cmd.Stdout, a.cmd.Stderr = w, &a.stderr
	a.stdout, a.reader = r, bufio.NewReader(r)
	a.cmd.Env = append(a.cmd.Environ(), "ASAN_OPTIONS=detect_leaks=0", "JITDUMPDIR=")
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return err
	}
	return a.cmd.Start()
}

// ask returns the answer to a question. If there is none, the error says what the sanitizers said,
// and the next question starts a new process.
func (a *fuzzAgent) ask(q question) ([]byte, error) {
	if a.cmd == nil {
		if err := a.start(); err != nil {
			return nil, err
		}
	}
	a.stdout.SetReadDeadline(time.Now().Add(time.Minute))
	var size [4]byte
	_, err := a.stdin.Write(append(binary.NativeEndian.AppendUint32(nil, uint32(len(q))), q...))
	if err == nil {
		_, err = io.ReadFull(a.reader, size[:])
	}
	var answer []byte
	if err == nil {
		answer = make([]byte, binary.NativeEndian.Uint32(size[:]))
		_, err = io.ReadFull(a.reader, answer)
	}
	if err == nil {
		return answer, nil
	}
	a.stop()
	return nil, fmt.Errorf("%w\n%s", err, a.stderr.Bytes())
}

func (a *fuzzAgent) stop() {
	if a.cmd == nil {
		return
	}
	a.stdin.Close()
	a.cmd.Process.Kill()
	a.cmd.Wait()
	a.stdout.Close()
	a.cmd = nil
}

// An answered is a function that fuzzagent wrote.
type answered struct {
	name string
	id   jitdump.RecordID
	body []byte
}

var errAnswer = errors.New("the answer is not whole")

// cut takes a number and as many bytes from an answer.
func cut(b []byte) (head, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errAnswer
	}
	n := binary.NativeEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, errAnswer
	}
	return b[4 : 4+n], b[4+n:], nil
}

func readAnswer(b []byte) (all []answered, err error) {
	if len(b) < 4 {
		return nil, errAnswer
	}
	count := binary.NativeEndian.Uint32(b)
	b = b[4:]
	for range count {
		var a answered
		var name []byte
		if name, b, err = cut(b); err != nil || len(b) < 4 {
			return nil, errAnswer
		}
		a.name, a.id = string(name), jitdump.RecordID(binary.NativeEndian.Uint32(b))
		if a.body, b, err = cut(b[4:]); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// raw returns the record as a reader of its dump has it.
func (a *answered) raw(t *testing.T) jitdump.Raw {
	t.Helper()
	order := binary.NativeEndian
	b := order.AppendUint32(nil, 0x4A695444)
	for _, v := range []uint32{1, 40, 62, 0, 1, 0, 0, 0, 0, uint32(a.id), uint32(16 + len(a.body)), 0, 0} {
		b = order.AppendUint32(b, v)
	}
	r, err := jitdump.NewReader(bytes.NewReader(append(b, a.body...)))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
