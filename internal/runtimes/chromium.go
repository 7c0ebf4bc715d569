package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// chromiumPage runs the program. Its clock counts calls, because that of a page stands still under
// --virtual-time-budget. A renderer ends by being killed, and its dump lacks the functions that were
// compiled last: those are of the loop after the program.
const chromiumPage = `<!doctype html>
<title>truth</title>
<script>
let time = 0;
var process = { argv: ['', '', '%s'] };
performance.now = () => time += 0.1;
</script>
<script type="module">
await import('./truth.mjs');
for (let i = 0; i < 60; i++) {
  const last = new Function('n', 'let s = ' + i + '; for (let k = 0; k < n; k++) s = (s * 3 + k) | 0; return s;');
  for (let k = 0; k < 20; k++) last(2000);
}
</script>
`

// chromium shows a page with the program. Each renderer writes a dump.
func chromium(_ context.Context, s *site) (*command, error) {
	const page = "page.html"
	if err := os.WriteFile(filepath.Join(s.work, page), []byte(fmt.Sprintf(chromiumPage, s.milliseconds)), 0o644); err != nil {
		return nil, err
	}
	args := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--user-data-dir=" + filepath.Join(s.work, "profile"),
		"--js-flags=--perf-prof", "--virtual-time-budget=10000", "--dump-dom", "file://" + filepath.Join(s.work, page),
	}
	if s.release.here() {
		return &command{args: append([]string{"chromium"}, args...)}, nil
	}
	// It starts its processes from /proc/self/exe, which is no loader inside.
	const inside = `mkdir -p "$1$2" && mount --bind "$2" "$1$2" && mount --bind /dev "$1/dev" && mount -t proc proc "$1/proc" && root=$1 && shift && exec chroot "$root" sh -c 'cd "$1" && shift && exec chromium "$@"' sh "$@"`
	return &command{args: append([]string{"unshare", "--mount", "sh", "-c", inside, "sh", s.release.dir, s.work}, args...)}, nil
}
