package addr2line

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Name is the name of the program.
const Name = "addr2line"

// Find returns the addr2line that follows this program in PATH, or else the first one that is not
// this program. rest is PATH after it. path is "" if there is none.
//
// rest is the PATH for the program that was found. So several filters in PATH, also copies of this
// program, end at the real addr2line.
func Find(pathVariable string) (path, rest string) {
	var self unix.Stat_t
	known := unix.Stat("/proc/self/exe", &self) == nil
	for more := true; more; {
		var dir string
		dir, pathVariable, more = strings.Cut(pathVariable, ":")
		if dir == "" {
			dir = "." // as execvp(3) has it
		}
		candidate := filepath.Join(dir, Name)
		if dir == "." {
			candidate = "./" + Name
		}
		var st unix.Stat_t
		if unix.Stat(candidate, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || unix.Access(candidate, unix.X_OK) != nil {
			continue
		}
		if known && st.Dev == self.Dev && st.Ino == self.Ino {
			path, rest = "", ""
			continue
		}
		if path == "" {
			path, rest = candidate, pathVariable
		}
	}
	return path, rest
}
