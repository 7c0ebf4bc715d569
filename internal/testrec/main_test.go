package testrec

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestPrivateTmp_HidesFilesOfOthers(t *testing.T) {
	if os.Getenv(insideMark) == "" {
		Skip(t, "mounting is not allowed here")
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mounts), " /tmp tmpfs ") {
		t.Errorf("got mounts without one at /tmp; want a private one:\n%s", mounts)
	}
	entries, err := os.ReadDir("/tmp")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "jit-") || strings.HasPrefix(e.Name(), "perf-") {
			t.Errorf("got %s in /tmp; want no files of others", e.Name())
		}
	}
}

func TestMentionedInTmp_ArgumentsAndEnvironment(t *testing.T) {
	got := mentionedInTmp([]string{"-test.testlogfile=/tmp/go-build1/b001/testlog.txt", "PATH=/bin:/tmp/a:/tmp/b/bin", "HOME=/root", "TMPDIR=/tmp", "X=/tmp/", "/tmp/go-build1/b001/x.test"})
	if want := []string{"go-build1", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
}
