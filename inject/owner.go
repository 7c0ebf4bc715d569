package inject

import (
	"os"
	"syscall"
)

// ownedByUserOrRoot reports whether a file belongs to the effective user or to root.
func ownedByUserOrRoot(st os.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return !ok || s.Uid == 0 || int(s.Uid) == os.Geteuid()
}
