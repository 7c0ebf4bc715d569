package terminal

import (
	"os"
	"os/exec"
)

// OpenPage opens a page in the user's browser, if there is a display and xdg-open. It does not wait.
func OpenPage(path string) {
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	if opener, err := exec.LookPath("xdg-open"); err == nil {
		exec.Command(opener, path).Start()
	}
}
