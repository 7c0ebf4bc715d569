package jvmti_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// openJ9Types is what OpenJ9's runtime/include/jniport.h says on Linux, in the
// place of a JDK's jni_md.h: nothing of who sees a function, and its own jlong.
const openJ9Types = `
#define JNIEXPORT
#define JNIIMPORT
#define JNICALL
typedef int jint;
typedef signed char jbyte;
typedef long long jlong;
`

// TestAgent_BuiltWithOpenJ9Headers compiles the agent as the Makefile does, with the headers that OpenJ9's own
// sources have: jni.h and jvmti.h, and no jvmticmlr.h.
func TestAgent_BuiltWithOpenJ9Headers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"jni.h", "jvmti.h"} {
		copyFile(t, filepath.Join(jdkHome(t), "include", name), filepath.Join(dir, name))
	}
	if err := os.WriteFile(filepath.Join(dir, "jni_md.h"), []byte(openJ9Types), 0o600); err != nil {
		t.Fatal(err)
	}
	so := filepath.Join(dir, "agent.so")
	compileAgent(t, so, "-O2", "-fPIC", "-fvisibility=hidden", "-I"+dir, "-shared")
	f, err := elf.Open(so)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			seen = append(seen, s.Name)
		}
	}
	slices.Sort(seen)
	if want := []string{"Agent_OnAttach", "Agent_OnLoad", "Agent_OnUnload"}; !slices.Equal(seen, want) {
		t.Errorf("the VM sees %v, want %v", seen, want)
	}
}
