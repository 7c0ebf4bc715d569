package jvmti_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/jitdump"
)

// A j9build is fakej9 as one of several programs.
type j9build struct {
	name  string
	flags []string
	exe   string

	layout j9meta.Layout // of the machine that it runs on
	sizeAt int           // offset of J9JITExceptionTable.size
	// Where things are in its memory: far from what the system and the sanitizers
	// map themselves. Each thing gets a megabyte.
	data, code, strings uint64
	nowhere             uint64 // nothing is mapped there
}

const slot = 1 << 20

func j9build64(name, sanitizer string) *j9build {
	return &j9build{
		name: name, flags: []string{"-fsanitize=" + sanitizer, "-fno-sanitize-recover=all"},
		layout: j9meta.Layout{Order: binary.LittleEndian, PointerSize: 8, Machine: elf.EM_X86_64}, sizeAt: 92,
		data: 0x7e90_0000_0000, code: 0x7ea0_0000_0000, strings: 0x7eb0_0000_0000, nowhere: 0x7ec0_0000_0000,
	}
}

var j9builds = []*j9build{
	j9build64("address-undefined", "address,undefined"),
	j9build64("thread", "thread"),
	{
		// The directory has asm/errno.h, which all but gcc-multilib leave there.
		name: "32-bit", flags: []string{"-m32", "-idirafter", "/usr/include/x86_64-linux-gnu"},
		layout: j9meta.Layout{Order: binary.LittleEndian, PointerSize: 4, Machine: elf.EM_386}, sizeAt: 52,
		data: 0x6000_0000, code: 0x8000_0000, strings: 0xa000_0000, nowhere: 0xc000_0000,
	},
}

// A fakeJ9 is a script for fakej9, and what it knows of classes.
type fakeJ9 struct {
	*j9build
	t       *testing.T
	dir     string
	options string
	env     []string
	script  bytes.Buffer
	files   int
	slots   uint64
}

func newFakeJ9(t *testing.T, b *j9build) *fakeJ9 {
	return &fakeJ9{j9build: b, t: t, dir: t.TempDir(), env: []string{"FAKEVM=Eclipse OpenJ9 VM"}}
}

// compile makes one program of the agent's sources and our OpenJ9.
func (b *j9build) compile(t *testing.T) {
	t.Helper()
	b.exe = filepath.Join(t.TempDir(), "fakej9")
	if b.layout.PointerSize == 4 {
		probe := exec.Command(testrec.Tool(t, "gcc"), append(b.flags, "-include", "errno.h", "-x", "c", "-o", b.exe, "-")...)
		probe.Stdin = strings.NewReader("int main(void) { return 0; }")
		if out, err := probe.CombinedOutput(); err != nil {
			testrec.Skip(t, "gcc makes no 32-bit programs without gcc-multilib, or libc6-dev-i386 and lib32gcc-12-dev: %s", out)
		}
	}
	compileWithAgent(t, b.exe, b.flags, "testdata/fakej9.c", "testdata/fakej9vm.c")
}

// do appends a command; numbers are hexadecimal.
func (f *fakeJ9) do(command string, args ...any) {
	f.script.WriteString(command)
	for _, a := range args {
		if s, ok := a.(string); ok {
			fmt.Fprintf(&f.script, " %s", s)
		} else {
			fmt.Fprintf(&f.script, " %x", a)
		}
	}
	f.script.WriteString("\n")
}

func (f *fakeJ9) file(b []byte) string {
	f.t.Helper()
	f.files++
	path := filepath.Join(f.dir, fmt.Sprintf("file%d", f.files))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func (f *fakeJ9) put(address uint64, b []byte) { f.do("put", address, f.file(b)) }

// place returns the addresses of a body: of its metadata and of its code.
func (f *fakeJ9) place() (base, code uint64) {
	f.slots++
	return f.data + f.slots*slot + 0x38, f.code + f.slots*slot + 0x20
}

// string puts a J9UTF8 somewhere.
func (f *fakeJ9) string(s string) uint64 {
	f.slots++
	address := f.strings + f.slots*slot
	f.put(address, append(binary.LittleEndian.AppendUint16(nil, uint16(len(s))), s...))
	return address
}

// code returns bytes that are known again.
func code(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// A j9function is one of the dump, with the record in front of it, if any.
type j9function struct {
	jitdump.Load
	meta *jitdump.OpenJ9Metadata
}

// run returns the functions of the dump, and how many classes the agent knew of
// in the end.
func (f *fakeJ9) run() ([]j9function, int) {
	f.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(f.exe, "dir="+f.dir+f.options)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &f.script, &stdout, &stderr
	cmd.Env = append(cmd.Environ(), f.env...)
	if err := cmd.Run(); err != nil || stderr.Len() != 0 {
		f.t.Fatalf("got %v; want no error, nothing in stderr\n%s", err, stderr.Bytes())
	}
	classes, err := strconv.Atoi(strings.TrimSpace(stdout.String()))
	if err != nil {
		f.t.Fatal(err)
	}
	path := fmt.Sprintf("%s/jit-%d.dump", f.dir, cmd.Process.Pid)
	noErrors(f.t, path)
	return readJ9(f.t, path), classes
}

// noErrors fails the test if jitinject verify would call the dump wrong: whatever the
// VM did, the agent's dumps are as they should be. Lines and exception ranges of our
// classes and bodies are not always as a VM has them, which are warnings.
func noErrors(t *testing.T, path string) {
	t.Helper()
	said := make(map[string]bool)
	_, err := checks.Verifier().File(t.Context(), path, verify.Options{All: true, Emit: func(c verify.Diagnostic) {
		if c.Severity == verify.Error && !said[c.Rule] {
			said[c.Rule] = true
			t.Errorf("verify: %s: %s", c.Rule, c.Text)
		}
	}})
	if err != nil {
		t.Error(err)
	}
}

// readJ9 reads a whole dump. A record of metadata must be in front of the load of
// its address, and nothing else may be there.
func readJ9(t *testing.T, path string) []j9function {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := jitdump.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var all []j9function
	var pending *jitdump.OpenJ9Metadata
	for r.Offset() < int64(len(b)) {
		raw, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if pending != nil && raw.ID != jitdump.IDLoad {
			t.Errorf("offset %#x: %v follows metadata", raw.Offset, raw.ID)
		}
		switch raw.ID {
		case jitdump.IDOpenJ9:
			m, err := raw.OpenJ9Metadata()
			if err == nil {
				err = m.CheckTables()
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(raw.Body)%8 != 0 {
				t.Errorf("offset %#x: %d bytes", raw.Offset, len(raw.Body))
			}
			pending = clone(&m)
		case jitdump.IDLoad:
			load, err := raw.Load()
			if err != nil {
				t.Fatal(err)
			}
			load.Name, load.Code = bytes.Clone(load.Name), bytes.Clone(load.Code)
			if pending != nil && pending.CodeAddr != load.CodeAddr {
				t.Errorf("metadata of %#x is in front of %#x", pending.CodeAddr, load.CodeAddr)
			}
			all = append(all, j9function{load, pending})
			pending = nil
		case jitdump.IDClose:
		default:
			t.Errorf("offset %#x: %v", raw.Offset, raw.ID)
		}
	}
	return all
}

// clone copies what the reader will use again.
func clone(m *jitdump.OpenJ9Metadata) *jitdump.OpenJ9Metadata {
	c := *m
	c.Metadata = bytes.Clone(m.Metadata)
	c.Methods = nil
	for _, j := range m.Methods {
		j.Class, j.Name, j.Signature, j.File = bytes.Clone(j.Class), bytes.Clone(j.Name), bytes.Clone(j.Signature), bytes.Clone(j.File)
		j.Lines = append([]jitdump.JavaLine(nil), j.Lines...)
		c.Methods = append(c.Methods, j)
	}
	return &c
}

// A javaMethod is a method of fakej9: of class number class, at an index.
type javaMethod struct{ class, index int }

// String is what the record must say of the method.
func (m javaMethod) String() string {
	file := fmt.Sprintf("p/K%d.java", m.class)
	if m.class%4 == 3 {
		file = fmt.Sprintf("p/K%d.class", m.class)
	}
	lines := ""
	for n := range 3 {
		if m.index%5 != 4 {
			lines += fmt.Sprintf(" %d:%d", 4*n, 100*m.class+10*m.index+n)
		}
	}
	return fmt.Sprintf("p/K%d m%d (I)V %s %d%s", m.class, m.index, file, m.class%2, lines)
}

// recorded is what a record says of a method.
func recorded(j *jitdump.JavaMethod) string {
	lines := ""
	for _, l := range j.Lines {
		lines += fmt.Sprintf(" %d:%d", l.ByteCodeIndex, l.Line)
	}
	return fmt.Sprintf("%s %s %s %s %d%s", j.Class, j.Name, j.Signature, j.File, j.Flags, lines)
}

// wantMethods compares a record's table with what is known of methods.
func wantMethods(t *testing.T, m *jitdump.OpenJ9Metadata, want map[uint64]javaMethod) {
	t.Helper()
	seen := make(map[uint64]bool)
	for i := range m.Methods {
		j := &m.Methods[i]
		w, ok := want[j.Method]
		if !ok || seen[j.Method] || recorded(j) != w.String() {
			t.Errorf("method %#x: %q, want %q (known: %v, again: %v)", j.Method, recorded(j), w, ok, seen[j.Method])
		}
		seen[j.Method] = true
	}
	if len(seen) != len(want) {
		t.Errorf("%d methods, want %d: %v", len(seen), len(want), want)
	}
}

// compileWithAgent makes a program of the agent's sources and others.
func compileWithAgent(t *testing.T, exe string, flags []string, own ...string) {
	t.Helper()
	jdk := jdkHome(t)
	flags = append([]string{"-O1", "-I" + jdk + "/include", "-I" + jdk + "/include/linux"}, flags...)
	compileAgent(t, exe, append(flags, own...)...)
}

// compileAgent compiles the agent's sources and what the arguments say.
func compileAgent(t *testing.T, to string, args ...string) {
	t.Helper()
	sources, err := filepath.Glob("../*.c")
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", to}, args...)
	if out, err := exec.Command(testrec.Tool(t, "gcc"), append(args, sources...)...).CombinedOutput(); err != nil {
		t.Fatalf("unexpected error: %v\n%s", err, out)
	}
}
