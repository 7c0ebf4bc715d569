package known

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// putAgent makes an empty file that has the agent's name.
func putAgent(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, agentFile)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindAgent_Places(t *testing.T) {
	top := t.TempDir()
	self := filepath.Join(top, "bin", "jitinject")
	elsewhere := findAgent(self)                           // of a package
	for _, dir := range []string{"bin", "lib/jitinject"} { // the later one comes first
		want := putAgent(t, filepath.Join(top, dir))
		if got := findAgent(self); got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
	for _, name := range []string{"a b", "a=b"} {
		dir := filepath.Join(t.TempDir(), name)
		putAgent(t, dir)
		if got := findAgent(filepath.Join(dir, "jitinject")); got != elsewhere {
			t.Errorf("got %q; want %q", got, elsewhere)
		}
	}
	dir := filepath.Join(t.TempDir(), "bin")
	if err := os.MkdirAll(filepath.Join(dir, agentFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := findAgent(filepath.Join(dir, "jitinject")); got != elsewhere {
		t.Errorf("got %q for a directory; want %q", got, elsewhere)
	}
}

// Advice names the agent that is there, or says how to install it, unless the recorded command has one.
func TestAdvice_Agent(t *testing.T) {
	advice := func(line string) string {
		return runtimeOf(t, "java").Advice(strings.Fields("perf record " + line))
	}
	const another = "java App -agentpath:/x/libjitinject-jvmti.so"
	if FindAgent() == "" {
		for line, want := range map[string]bool{"java App": true, another: false} {
			if got := advice(line); strings.Contains(got, "first "+InstallAgent) != want {
				t.Errorf("%s: got %q", line, got)
			}
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := putAgent(t, filepath.Join(filepath.Dir(self), "../lib/jitinject"))
	defer os.Remove(path)
	if got := advice("java App"); !strings.Contains(got, "-agentpath:"+path+" ") || strings.Contains(got, InstallAgent) || strings.Contains(got, agent) {
		t.Errorf("got %q; want the agent %s", got, path)
	}
	if got := advice(another); strings.Contains(got, path) {
		t.Errorf("got %q; want the agent of the command", got)
	}
}
