package registered

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/testrec"
)

// realCore returns the process of a real core.
func realCore(t testing.TB) *Process {
	t.Helper()
	core, err := elfcore.Open(bytes.NewReader(testrec.Gunzip(t, "../testdata/lli.core.gz")))
	if err != nil {
		t.Fatal(err)
	}
	return &Process{Memory: core, Class: core.Class, Order: core.Order, Machine: core.Machine}
}

// functionsOf returns the names and sizes of all functions.
func functionsOf(r *Registered) (names []string) {
	for _, o := range r.Objects {
		for _, f := range o.Functions {
			names = append(names, fmt.Sprintf("%s %d", f.Name, f.Size))
		}
	}
	slices.Sort(names)
	return names
}

// wantFunctions are those of inlined.c.
var wantFunctions = []string{"first 443", "main 73", "second 91"}

func TestRead_RealCore(t *testing.T) {
	p := realCore(t)
	places := Find(p)
	if len(places) != 1 || places[0].How != ByDynamicSymbol || filepath.Base(places[0].File) != "libLLVM-14.so.1" {
		t.Fatalf("got %+v; want the descriptor of LLVM", places)
	}
	r, err := Read(p, places)
	if err != nil || len(r.Problems) > 0 || !slices.Equal(functionsOf(r), wantFunctions) {
		t.Fatalf("got %q, %v, %v; want %q", functionsOf(r), r.Problems, err, wantFunctions)
	}
	for i := range r.Objects {
		for _, f := range r.Objects[i].Functions {
			code := make([]byte, f.Size)
			if err := r.Objects[i].ReadCode(p, f.Addr, code); err != nil || code[len(code)-1] != 0xc3 {
				t.Errorf("got % x, %v for %s; want code that ends with a return", code[max(0, len(code)-4):], err, f.Name)
			}
			if !p.IsExecutable(f.Addr, f.Size) || p.IsExecutable(f.Addr, 1<<20) || p.IsExecutable(r.Objects[i].Symfile, 1) {
				t.Errorf("got executable memory at %#x: %v; want the code only", f.Addr, p.IsExecutable(f.Addr, f.Size))
			}
		}
	}
}

// hidden is memory without some ranges.
type hidden struct {
	Memory
	lo, hi uint64
}

func (h hidden) ReadCode(addr uint64, b []byte) error {
	if addr < h.hi && addr+uint64(len(b)) > h.lo {
		return &elfcore.MissingError{Addr: max(addr, h.lo), LeftOut: true}
	}
	return h.Memory.ReadCode(addr, b)
}

// Without symbols, the descriptor is found by its content and its list.
func TestFind_WithoutSymbols(t *testing.T) {
	p := realCore(t)
	want := Find(p)[0]
	for im := range p.images() {
		if im.name != want.File {
			continue
		}
		d, ok := im.dynamic()
		if !ok {
			t.Fatal("got no dynamic symbols; want some")
		}
		p.Memory = hidden{p.Memory, im.bias + d.symbols, im.bias + d.symbols + 64<<10}
		if _, ok := im.dynamicSymbol("nothing"); ok {
			t.Error("got a symbol that is not there")
		}
	}
	got := Find(p)
	if want.How = ByContent; len(got) != 1 || got[0] != want {
		t.Errorf("got %+v; want %+v", got, want)
	}
}

// Libraries of this machine have the symbol where the dynamic linker finds it.
func TestDynamicSymbol_AsInFiles(t *testing.T) {
	cat := exec.Command(testrec.Tool(t, "cat"))
	testrec.StartWaiting(t, cat)
	p, err := procmem.Open(uint32(cat.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	compared := 0
	process := &Process{Memory: p, Class: p.Class, Order: p.Order, Machine: p.Machine}
	for im := range process.images() {
		f, err := elf.Open(im.name)
		if err != nil {
			continue
		}
		defer f.Close()
		symbols, _ := f.DynamicSymbols()
		for i := 0; i < len(symbols); i += 1 + len(symbols)/50 {
			s := &symbols[i]
			if s.Section == elf.SHN_UNDEF || s.Section >= elf.SHN_LORESERVE || s.Version != "" && slices.ContainsFunc(symbols, func(o elf.Symbol) bool { return o.Name == s.Name && o.Value != s.Value }) {
				continue
			}
			compared++
			if addr, ok := im.dynamicSymbol(s.Name); !ok || addr != im.bias+s.Value {
				t.Errorf("got %#x, %v for %s of %s; want %#x", addr, ok, s.Name, im.name, im.bias+s.Value)
			}
		}
	}
	if compared == 0 {
		t.Error("got no symbol to compare; want those of the C library")
	}
}

// A running lli is read without stopping it.
func TestRead_RunningLLI(t *testing.T) {
	clang, lli := testrec.Tool(t, "clang-14", "clang"), testrec.Tool(t, "lli-14", "lli")
	dir := t.TempDir()
	program := filepath.Join(dir, "program.c")
	text := `#include <stdio.h>
int twice(int n) { return 2 * n; }
int main(void) { char line[16]; fgets(line, sizeof line, stdin); puts(line); fflush(stdout); fgets(line, sizeof line, stdin); return twice(line[0]); }
`
	if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	bitcode := filepath.Join(dir, "program.bc")
	if out, err := exec.Command(clang, "-g", "-O0", "-c", "-emit-llvm", "-o", bitcode, program).CombinedOutput(); err != nil {
		t.Fatalf("got %v from clang; want no error: %s", err, out)
	}
	t.Setenv("JITDUMPDIR", dir)
	cmd := exec.Command(lli, "--jit-kind=mcjit", bitcode)
	testrec.StartWaiting(t, cmd)
	pid := cmd.Process.Pid
	live, err := procmem.Open(uint32(pid))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	p := &Process{Memory: live, Class: live.Class, Order: live.Order, Machine: live.Machine, Live: true}
	r, err := Read(p, Find(p))
	if err != nil || r.Unstable || len(r.Problems) > 0 || len(r.Objects) != 1 {
		t.Fatalf("got %+v, %v; want one object", r, err)
	}
	var names []string
	for _, f := range r.Objects[0].Functions {
		names = append(names, string(f.Name))
		if code := make([]byte, f.Size); r.Objects[0].ReadCode(p, f.Addr, code) != nil || code[0] == 0 {
			t.Errorf("got code % x of %s; want instructions", code, f.Name)
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"main", "twice"}) {
		t.Errorf("got functions %q; want main and twice", names)
	}
	// It still runs: it was never stopped.
	if state := stateOf(t, pid); state != "S" {
		t.Errorf("got state %s; want a process that waits for input (S)", state)
	}
}

// stateOf returns the state of a process that waits, as proc(5) has it.
func stateOf(t *testing.T, pid int) (state string) {
	for range 50 {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		if state = string(b[bytes.LastIndexByte(b, ')')+2:][:1]); state == "S" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return state
}
