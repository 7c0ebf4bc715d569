// Without modules, as in Debian, Go would behave as 1.20 did.
//go:debug default=go1.26

package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/addr2line"
	"github.com/jitinject/jitinject/internal/stdio"
)

func main() {
	if addr2line.IsFilter(os.Args) {
		os.Exit(addr2line.Filter(os.Args))
	}
	code := program()
	if !stdio.Close(os.Stdout, os.Stderr) {
		code = max(code, exitIncomplete)
	}
	os.Exit(code)
}

// program is the program up to its exit code.
func program() int {
	if len(os.Args) > 1 && slices.Contains([]string{"record", "report", "annotate", "script", "diff"}, os.Args[1]) {
		return run(os.Args, os.Stdin, os.Stdout, os.Stderr) // the program that it starts gets the limits as they are
	}
	if code := prepare(newConsole(os.Args[0], os.Stderr)); code != exitOK {
		return code
	}
	return run(os.Args, os.Stdin, os.Stdout, os.Stderr)
}

// prepare checks and sets limits of the process, for work on recordings.
func prepare(stderr io.Writer) (code int) {
	if err := enoughFiles(); err != nil {
		return fail(stderr, err)
	}
	limitGarbage()
	return exitOK
}

// fewFiles is how many open files the program needs: a run with one dump, with --objects, --sources
// and --buildid-cache, works with 21 of them, on amd64. More dumps and more workers may need more,
// and say so. With very few, Go's runtime ends the program in its own words.
const fewFiles = 24

func enoughFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err == nil && limit.Cur < fewFiles {
		return fmt.Errorf("only %d files may be open at once, and %d are needed: too many open files; raise the limit (ulimit -n)", limit.Cur, fewFiles)
	}
	return nil
}

// limitGarbage makes the garbage collector run when memory has grown by 40 %, and not by 100 %. The
// environment variable GOGC overrides that.
func limitGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40)
	}
}

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
