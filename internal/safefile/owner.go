package safefile

import (
	"os"
	"syscall"
)

// OwnedByUserOrRoot reports whether a file belongs to the effective user or to root.
func OwnedByUserOrRoot(st os.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return !ok || s.Uid == 0 || int(s.Uid) == os.Geteuid()
}
