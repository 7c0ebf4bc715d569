package main

import (
	"context"
	"path/filepath"
)

// chromium shows a page with the program. Each renderer writes a dump.
func chromium(_ context.Context, s *site) (*command, error) {
	args := []string{
		"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--user-data-dir=" + filepath.Join(s.work, "profile"),
		"--js-flags=--perf-prof", "--virtual-time-budget=10000", "--dump-dom", "file://" + filepath.Join(s.work, "page.html?"+s.milliseconds),
	}
	if s.release.here() {
		return &command{args: args}, nil
	}
	// It starts its processes from /proc/self/exe, which is no loader inside.
	const inside = `mkdir -p "$1$2" && mount --bind "$2" "$1$2" && mount --bind /dev "$1/dev" && mount -t proc proc "$1/proc" && root=$1 && shift && exec chroot "$root" sh -c 'cd "$1" && shift && exec "$@"' sh "$@"`
	return &command{args: append([]string{"unshare", "--mount", "sh", "-c", inside, "sh", s.release.dir, s.work}, args...)}, nil
}
