package xrayfdr

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// TestWriter_ReadByLLVM lets llvm-xray read what a Writer writes. It reads no big-endian traces, so
// those are left out.
func TestWriter_ReadByLLVM(t *testing.T) {
	program := testrec.Tool(t, "llvm-xray-14", "llvm-xray")
	file := trace(t, func(w writer) {
		w.Begin(&Block{TID: 70001, PID: 70000, Seconds: 3, Microseconds: 14, TSC: 1 << 40, CPU: 2})
		w.Function(Enter, 5, 1<<40)
		w.CustomEvent(1<<40+5, []byte("said"))
		w.TypedEvent(77, 1<<40+6, []byte("typed"))
		w.Function(EnterArgs, 6, 1<<40+7)
		w.Argument(99)
		w.CPU(3, 1<<40+8)
		w.Function(TailExit, 6, 1<<40+9)
		w.Function(Exit, 5, 1<<41)
	})
	path := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "fdr-dump", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	h, _ := ParseHeader(file)
	if h.Order != binary.LittleEndian {
		t.Fatal("not little endian")
	}
	blocks, records, _, _ := readAll(t, file)
	var ours []string
	for i := range records[0] {
		ours = append(ours, dumpLine(&records[0][i]))
	}
	theirs := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if !slices.Equal(ours, theirs) {
		t.Errorf("%s\nllvm-xray:\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
	yaml, err := exec.Command(program, "convert", "-f", "yaml", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	calls := yamlCalls(t, string(yaml))
	if got := ourCalls(blocks, records); len(got) < 4 || !slices.Equal(got, calls) {
		t.Errorf("got %+v; want 4 calls or more, as of llvm-xray:\n%+v", got, calls)
	}
}

// TestReader_RandomTracesAsLLVMReads: llvm-xray reads the random traces that it can read as we do.
func TestReader_RandomTracesAsLLVMReads(t *testing.T) {
	program := testrec.Tool(t, "llvm-xray-14", "llvm-xray")
	path := filepath.Join(t.TempDir(), "trace")
	compared := 0
	for seed := uint64(0); compared < 10; seed++ {
		file, _ := madeTrace(seed, binary.LittleEndian)
		_, records, _, _ := readAll(t, file)
		var ours strings.Builder
		for _, block := range records {
			for i := range block {
				ours.WriteString(dumpLine(&block[i]) + "\n")
			}
		}
		if len(records) == 0 {
			continue
		}
		compared++
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		theirs, err := exec.Command(program, "fdr-dump", path).Output()
		if err != nil || ours.String() != string(theirs) {
			t.Errorf("seed %d: %v: %d bytes, llvm-xray has %d", seed, err, ours.Len(), len(theirs))
		}
	}
}
