package main

import (
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion_FromBuildInfo(t *testing.T) {
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for _, c := range []struct {
		reported string
		info     *debug.BuildInfo
		want     string
	}{
		{"1.2.3", built("v1.0.0"), "1.2.3"},
		{"", nil, "unknown"},
		{"", built(""), "unknown"},
		{"", built("v1.2.3"), "1.2.3"}, // go install ...@v1.2.3
		{"", built("(devel)", revision, debug.BuildSetting{Key: "vcs.modified", Value: "false"}), "0-0123456789ab"},
		{"", built("(devel)", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "0-0123456789ab+dirty"},
	} {
		if got := versionOf(c.reported, c.info); got != c.want {
			t.Errorf("%q, %v: %s, want %s", c.reported, c.info, got, c.want)
		}
	}
}

// A build from an archive of the sources can be told its version.
func TestVersion_ToldToBuild(t *testing.T) {
	program := filepath.Join(t.TempDir(), "jitinject")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w -X main.buildVersion=9.8.7", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("unexpected error: %v\n%s", err, out)
	}
	out, err := exec.Command(program, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "jitinject version 9.8.7\n") {
		t.Errorf("got %v; want no error, out that begins with \"jitinject version 9.8.7\\n\"\n%s", err, out)
	}
}
