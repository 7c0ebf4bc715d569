package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// buildVersion is the version where neither a module nor git tells it, as in a
// build from an archive of the sources: go build -ldflags "-X main.buildVersion=1.2.3".
var buildVersion string

// version is the version that the program was built as: the one it was told, that of
// the module, or the revision in git.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(buildVersion, info)
}

func versionOf(reported string, info *debug.BuildInfo) string {
	if reported != "" {
		return reported
	}
	if info == nil {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return strings.TrimPrefix(v, "v")
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return "unknown"
	}
	return "0-" + revision + dirty
}

// versionText is the version, with what a report of a fault should tell beside it.
func versionText() string {
	return fmt.Sprintf("jitinject version %s\n%s, %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
