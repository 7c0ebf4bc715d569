package xrayfdr

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// TestWriter_ReadByLLVM lets llvm-xray read what a Writer writes. It decodes typed
// events of versions 3 and 4 as those of version 5 and reads no big-endian
// traces, so those are left out.
func TestWriter_ReadByLLVM(t *testing.T) {
	program := testrec.Tool(t, "llvm-xray-14", "llvm-xray")
	for version := uint16(1); version <= MaxVersion; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			file := trace(t, version, func(w writer) {
				w.Begin(&Block{TID: 70001, PID: 70000, Seconds: 3, Microseconds: 14, TSC: 1 << 40, CPU: 2})
				w.Function(Enter, 5, 1<<40)
				if version > 1 { // llvm-xray loses its place behind events of version 1
					w.CustomEvent(1<<40+5, []byte("said"))
				}
				if version == 5 {
					w.TypedEvent(77, 1<<40+6, []byte("typed"))
				}
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
				ours = append(ours, llvmLine(version, &records[0][i]))
			}
			theirs := withoutRest(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"))
			if !slices.Equal(ours, theirs) {
				t.Errorf("%s\nllvm-xray:\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
			}
			yaml, err := exec.Command(program, "convert", "-f", "yaml", path).Output()
			if err != nil {
				t.Fatal(err)
			}
			calls := yamlCalls(t, string(yaml))
			for i := range calls {
				if c := &calls[i]; c.kind == "custom-event" && version < 4 {
					c.cpu = 2 // events have no CPU before version 4, llvm-xray says 0
				}
			}
			if got := ourCalls(h, blocks, records); len(got) < 4 || !slices.Equal(got, calls) {
				t.Errorf("got %+v; want 4 calls or more, as of llvm-xray:\n%+v", got, calls)
			}
		})
	}
}

// llvmLine is what llvm-xray fdr-dump prints of a record of a version.
func llvmLine(version uint16, rec *Record) string {
	if rec.Kind != CustomEvent || version == 5 {
		return dumpLine(rec)
	}
	cpu := uint16(0)
	if version == 4 {
		cpu = rec.CPU
	}
	return fmt.Sprintf("<Custom Event: tsc = %d, cpu = %d, size = %d, data = '%s'>", rec.TSC, cpu, rec.PayloadSize, rec.Payload)
}

// TestReader_RandomTracesAsLLVMReads: llvm-xray reads the random traces that it can read as we do.
// It loses its place in version 1, and decodes typed events of versions 3 and 4 wrongly.
func TestReader_RandomTracesAsLLVMReads(t *testing.T) {
	program := testrec.Tool(t, "llvm-xray-14", "llvm-xray")
	path := filepath.Join(t.TempDir(), "trace")
	for version := uint16(2); version <= MaxVersion; version++ {
		compared := 0
		for seed := uint64(0); compared < 10; seed++ {
			file, _ := madeTrace(seed, int(version), binary.LittleEndian)
			_, records, _, _ := readAll(t, file)
			var ours strings.Builder
			typed := false
			for _, block := range records {
				for i := range block {
					typed = typed || block[i].Kind == TypedEvent
					ours.WriteString(llvmLine(version, &block[i]) + "\n")
				}
			}
			if typed && version < 5 || len(records) == 0 {
				continue
			}
			compared++
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			theirs, err := exec.Command(program, "fdr-dump", path).Output()
			if err != nil || ours.String() != string(theirs) {
				t.Errorf("version %d, seed %d: %v: %d bytes, llvm-xray has %d", version, seed, err, ours.Len(), len(theirs))
			}
		}
	}
}
