package jvmti_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A vm is a Java VM to try the agent in.
type vm struct {
	name    string // HotSpot-17.0.15
	java    string // path of the command; jcmd is beside it
	openJ9  bool
	version string // major version: 17
}

// vms returns the installed java. With JITINJECT_ALL=1 (make interop) it returns all Java VMs in
// /usr/lib/jvm as well, and those of JITINJECT_JAVAS: paths of java commands, separated by
// colons. VMs of one version come once.
func vms(t *testing.T) []vm {
	t.Helper()
	paths := []string{testrec.Tool(t, "java")}
	if os.Getenv("JITINJECT_ALL") != "" {
		installed, err := filepath.Glob("/usr/lib/jvm/*/bin/java")
		if err != nil {
			t.Fatal(err)
		}
		paths = append(append(paths, installed...), strings.Split(os.Getenv("JITINJECT_JAVAS"), ":")...)
	}
	var all []vm
	seen := make(map[string]bool)
	for _, path := range paths {
		if path == "" {
			continue
		}
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			t.Fatal(err)
		}
		v := newVM(t, path)
		if !seen[v.name] {
			seen[v.name] = true
			all = append(all, v)
		}
	}
	return all
}

var javaVersion = regexp.MustCompile(`version "((\d+)[^"]*)"`)

func newVM(t *testing.T, java string) vm {
	t.Helper()
	out, err := exec.Command(java, "-version").CombinedOutput()
	if err != nil {
		t.Fatalf("%s -version: %v\n%s", java, err, out)
	}
	m := javaVersion.FindSubmatch(out)
	if m == nil {
		t.Fatalf("%s -version: got %s; want a version", java, out)
	}
	v := vm{java: java, version: string(m[2]), openJ9: strings.Contains(string(out), "OpenJ9")}
	v.name = fmt.Sprintf("%s-%s", map[bool]string{true: "OpenJ9", false: "HotSpot"}[v.openJ9], m[1])
	return v
}

// skipMissing says which VMs all should have and has not.
func skipMissing(t *testing.T, all []vm) {
	t.Helper()
	for _, version := range []string{"17", "21", "25"} {
		t.Run("HotSpot-"+version, func(t *testing.T) {
			for _, v := range all {
				if v.version == version && !v.openJ9 {
					return
				}
			}
			testrec.Skip(t, "no Java %s; JITINJECT_JAVAS=PATH names its java command", version)
		})
	}
	t.Run("OpenJ9", func(t *testing.T) {
		for _, v := range all {
			if v.openJ9 {
				return
			}
		}
		testrec.Skip(t, "no OpenJ9; JITINJECT_JAVAS=PATH names its java command. fakej9.c plays it under the same sanitizers")
	})
}
