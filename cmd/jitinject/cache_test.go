package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/testrec"
)

// unsetenv takes a variable away for a test.
func unsetenv(t *testing.T, name string) {
	t.Setenv(name, "") // which knows how to undo it
	os.Unsetenv(name)
}

// The cache is where perf says that it is, given the same configuration.
func TestCache_LikePerf(t *testing.T) {
	const home = "HOME"
	for text, want := range map[string]string{
		"":                        home + "/.debug",
		"[buildid]\n\tdir = /a\n": "/a",
		"[buildid] dir=/one # x\n dir = \"/two\"": "/two",
		"[BuildID]\r\ndir=/q\r\n":                 "/q",
		"[buildid]\nDIR=/q\n":                     home + "/.debug",
		"[buildid]\ndir=/q\ndir=\n":               home + "/.debug",
		"[other]\ndir=/q\n":                       home + "/.debug",
		"#x\\\n[buildid];y\ndir=/c\n[x]\ndir=1\n": "/c",
		"[buildid]\ndir=/a #b\\\nq=/c\n":          "/a",
		"[buildid]\ndir=/a\\\n   b\tc  d \n":      "/a b c d",
		"[buildid]\ndir= \"/# x\" \"y  z\"  ;c":   "/# x y  z",
		"[buildid]\ndir = \"/a b\"c\\\"\\\\":      `/a bc"\`,
		"[buildid]\ndir = ~/x":                    "~/x",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".perfconfig"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("HOME", dir)
		t.Setenv("PERF_BUILDID_DIR", "")
		unsetenv(t, "PERF_CONFIG")
		want = strings.Replace(want, home, dir, 1)
		o := options{Options: config.Options{BuildIDCache: perfsCache}}
		if err := o.findCache(); err != nil || o.BuildIDCache != want {
			t.Errorf("%q: %q, %v, want %q", text, o.BuildIDCache, err, want)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("[buildid]dir=/other"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PERF_CONFIG", other)
	find := func(cache string) string {
		o := options{Options: config.Options{BuildIDCache: cache}}
		if err := o.findCache(); err != nil {
			return err.Error()
		}
		return o.BuildIDCache
	}
	if got := find(perfsCache); got != "/other" {
		t.Errorf(`got %+v; want "/other"`, got)
	}
	t.Setenv("PERF_BUILDID_DIR", "/told")
	if got := find(perfsCache); got != "/told" {
		t.Errorf(`got %+v; want "/told"`, got)
	}
	t.Setenv("HOME", "/home/x")
	for cache, want := range map[string]string{"": "", "~": "/home/x", "~/y": "/home/x/y", "~z": "~z", "/q": "/q"} {
		if got := find(cache); got != want {
			t.Errorf("%q: got %q; want %v", cache, got, want)
		}
	}
	t.Setenv("PERF_BUILDID_DIR", "")
	unsetenv(t, "PERF_CONFIG")
	t.Setenv("HOME", "")
	if got := find(perfsCache); got != string(noHome) {
		t.Errorf("got %+v; want %v", got, string(noHome))
	}
}

// Real perf archive packs up what --buildid-cache has put into the cache that perf is
// configured to use, and what is run as perf jitinject finds that of perf --buildid-dir.
func TestCache_PackedByPerfArchive(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ config, option string }{
		"configured": {config: "[buildid]\ndir = CACHE\n"},
		"told":       {option: "CACHE"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testrec.Place(t, "php")
			cache := filepath.Join(dir, "cache")
			if err := os.WriteFile(filepath.Join(dir, ".perfconfig"), []byte(strings.Replace(c.config, "CACHE", cache, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			bin := t.TempDir()
			if err := os.Symlink(program, filepath.Join(bin, "perf-jitinject")); err != nil {
				t.Fatal(err)
			}
			var before []string
			if c.option != "" {
				before = []string{"--buildid-dir", cache}
			}
			for _, args := range [][]string{{"jitinject", "-i", "perf.data", "-o", "out.data", "--buildid-cache"}, {"archive", "out.data"}} {
				cmd := testrec.Command(t, dir, perf, append(before, args...)...)
				cmd.Env = slices.DeleteFunc(append(cmd.Env, beProgram+"=1"), func(v string) bool { return strings.HasPrefix(v, "PERF_CONFIG=") })
				if args[0] == "jitinject" { // and not one that is installed
					cmd.Env = append(cmd.Env, "PERF_EXEC_PATH="+bin)
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("for %v: unexpected error: %v\n%s", args, err, out)
				}
			}
			list := testrec.Run(t, dir, testrec.Tool(t, "tar"), "tf", "out.data.tar.bz2")
			if !strings.Contains(list, "/jitted-") {
				t.Errorf("no objects are packed:\n%s", list)
			}
			if _, err := os.Stat(filepath.Join(dir, ".debug")); err == nil {
				t.Error("there is another cache")
			}
		})
	}
}
