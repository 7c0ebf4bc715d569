package perfrun

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/addr2line"
)

// filterScript is the program that perf starts as addr2line for each file. An object of jitted
// functions has few symbols, so the real addr2line answers as fast as the filter, and starts several
// times as fast. A report of 250 objects takes 1.4 seconds like this, and 2.8 with a filter for each.
// A shell starts in half a millisecond.
//
// The real one is the first in PATH when perf starts it, without the script's own directory: perf may
// be a script that changes PATH.
const filterScript = `#!/bin/sh
path=:$PATH:
PATH=${path%%%%:%[1]s:*}:${path#*:%[1]s:}
PATH=${PATH#:}
PATH=${PATH%%:}
case "$2" in */jitted-*) exec addr2line "$@" ;; esac
exec %[2]s "$@"
`

// filterDir is the directory, below that of the script, of the link to this program. The link has the
// name by which the program knows that it is the filter.
const filterDir = "filter"

// makeFilter makes a directory for PATH with a program addr2line. It is this program for all files
// with many symbols, and the real one, if that is of binutils, for jitted functions. The caller calls removeFilter. If it is left
// because the process was killed, it has no effect: it is in no PATH.
func makeFilter(self, real string) (dir string, err error) {
	dir, err = os.MkdirTemp("", "jitinject-addr2line-")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			removeFilter(dir)
		}
	}()
	if strings.Contains(dir, ":") {
		return "", fmt.Errorf("%s: a directory in PATH has no colon", dir)
	}
	link := filepath.Join(dir, filterDir, addr2line.Name)
	if err := os.Mkdir(filepath.Dir(link), 0o700); err != nil {
		return "", err
	}
	if err := os.Symlink(self, link); err != nil {
		return "", err
	}
	script := filepath.Join(dir, addr2line.Name)
	text := fmt.Sprintf(filterScript, shellQuoted(dir), shellQuoted(link))
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		return "", err
	}
	if isGNU(real) && unix.Access(script, unix.X_OK) == nil {
		return dir, nil
	}
	// No script: perf 6.1 waits forever for LLVM's addr2line without the filter, and where programs
	// may not be run (noexec), a link to one elsewhere may.
	return dir, errors.Join(os.Remove(script), os.Symlink(self, script))
}

// isGNU reports whether an addr2line is that of binutils.
func isGNU(real string) bool {
	text, err := exec.Command(real, "--version").Output()
	return err == nil && bytes.HasPrefix(text, []byte("GNU "))
}

func removeFilter(dir string) { os.RemoveAll(dir) }

// shellQuoted returns text as a word of any POSIX shell. quote.ShellWord is for people: it shows some
// bytes as escapes that dash does not know.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
