package producer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

const installPrefix = "/opt/producers"

// installed installs the header below a directory and returns the directory.
func installed(t *testing.T) (dir string) {
	t.Helper()
	for _, name := range []string{"jitdump.pc.in", "jitdump-config.cmake.in", "jitdump-config-version.cmake.in"} {
		os.ReadFile(producer(t, name)) // for the cache of go test
	}
	dir = t.TempDir()
	makes(t, "install-header", dir)
	return dir
}

// makes runs a target of the Makefile for a directory.
func makes(t *testing.T, target, dir string) {
	t.Helper()
	testrec.Run(t, filepath.Join("..", ".."), testrec.Tool(t, "make"), "-s", target, "DESTDIR="+dir, "PREFIX="+installPrefix, "VERSION=1.2.3~git20261124.abc")
}

// A compiler finds the installed header by pkg-config.
func TestInstall_PkgConfig(t *testing.T) {
	config, err := exec.LookPath("pkg-config")
	if err != nil {
		testrec.Missing(t, "there is no pkg-config")
	}
	root := installed(t)
	prefix := filepath.Join(root, installPrefix)
	ask := func(args ...string) string {
		cmd := testrec.Command(t, root, config, append(args, "jitdump")...)
		cmd.Env = append(cmd.Env, "PKG_CONFIG_LIBDIR="+filepath.Join(prefix, "share", "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR="+root)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("pkg-config %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if got := ask("--modversion"); got != "1.2.3" {
		t.Errorf(`got version %q, want "1.2.3"`, got)
	}
	flags := ask("--cflags", "--libs")
	testrec.Run(t, root, testrec.Tool(t, "sh"), "-c", testrec.Tool(t, "gcc")+" -Wall -Werror -o cube '"+producer(t, "examples", "cube.c")+"' "+flags)
}

// A project of CMake finds the installed header.
func TestInstall_CMake(t *testing.T) {
	cmake, err := exec.LookPath("cmake")
	if err != nil {
		testrec.Skip(t, "there is no cmake")
	}
	root, source := installed(t), t.TempDir()
	write := func(version string) {
		list := "cmake_minimum_required(VERSION 3.10)\nproject(cube C)\nfind_package(jitdump " + version + " REQUIRED)\n" +
			"add_executable(cube " + producer(t, "examples", "cube.c") + ")\ntarget_link_libraries(cube jitdump::jitdump)\n"
		if err := os.WriteFile(filepath.Join(source, "CMakeLists.txt"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-S", source, "-B", filepath.Join(source, "build"), "-DCMAKE_PREFIX_PATH=" + filepath.Join(root, installPrefix), "-DCMAKE_C_COMPILER=" + testrec.Tool(t, "gcc")}
	for _, version := range []string{"", "1", "1.2", "1.2.3 EXACT"} {
		write(version)
		testrec.Run(t, source, cmake, args...)
	}
	testrec.Run(t, source, cmake, "--build", filepath.Join(source, "build"))
	for _, version := range []string{"1.3", "2", "0.9"} {
		write(version)
		out, err := testrec.Command(t, source, cmake, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "1.2.3") {
			t.Errorf("version %s: got %v; want an error that names 1.2.3\n%s", version, err, out)
		}
	}
}

// All that is installed is removed again, and other files stay.
func TestInstall_Uninstall(t *testing.T) {
	root := installed(t)
	other := filepath.Join(root, installPrefix, "include", "other.h")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	makes(t, "uninstall", root)
	if left := testrec.Run(t, root, testrec.Tool(t, "find"), root, "(", "!", "-type", "d", "-o", "-path", "*/cmake/jitdump", ")"); left != other+"\n" {
		t.Errorf("got %s; want %s", left, other)
	}
}

// The program of the manual page compiles, runs and is described without a finding.
func TestManual_Example(t *testing.T) {
	if page := manualPage(t); page != "" {
		dir := t.TempDir()
		file := filepath.Join(dir, "program.c")
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		testrec.Run(t, dir, testrec.Tool(t, "gcc"), append([]string{"-std=c99", "-I", producer(t), "-o", "program", file}, cFlags...)...)
		if runtime.GOARCH != "amd64" {
			testrec.Skip(t, "the program makes code for x86-64")
		}
		testrec.Run(t, dir, "./program")
		verified(t, dumpIn(t, dir))
	}
}

var indented = regexp.MustCompile(`(?m)^    `)

// manualPage returns the program of the manual page. All functions of the header are on the page.
func manualPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "cmd", "jitinject", "help", "jitdump.h.md"))
	if err != nil {
		t.Fatal(err)
	}
	header, err := os.ReadFile(producer(t, "jitdump.h"))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^JITDUMP_API .*?\b(jitdump_\w+)\(`).FindAllStringSubmatch(string(header), -1)
	if len(declared) < 20 {
		t.Errorf("got %d functions in the header, want 20 at least", len(declared))
	}
	for _, m := range declared {
		if !strings.Contains(string(page), m[1]) {
			t.Errorf("jitdump(3) lacks %s", m[1])
		}
	}
	_, rest, _ := strings.Cut(string(page), "\n## EXAMPLE\n")
	_, rest, _ = strings.Cut(rest, "\n    #define")
	program, _, found := strings.Cut("#define"+rest, "\n    }\n")
	if !found {
		t.Fatal("jitdump(3) has no program")
	}
	return indented.ReplaceAllString(program, "") + "\n}\n"
}
