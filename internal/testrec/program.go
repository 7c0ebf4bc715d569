package testrec

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// Build builds the command to a path. Test packages share the file that the go command makes, in the
// user's cache: it is linked once for a state of the sources, and copied.
func Build(path string) error {
	_, self, _, _ := runtime.Caller(0)
	made, top := path, filepath.Join(filepath.Dir(self), "..", "..")
	if !filepath.IsAbs(self) { // -trimpath; tests run in the directory of their package
		top = filepath.Join("..", "..")
	}
	if caches, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(caches, "jitinject-test")
		if err := os.MkdirAll(dir, 0o755); err == nil {
			if lock, err := os.Create(filepath.Join(dir, "lock")); err == nil && unix.Flock(int(lock.Fd()), unix.LOCK_EX) == nil {
				defer lock.Close()
				made = filepath.Join(dir, "jitinject")
			}
		}
	}
	cmd := exec.Command(cmp.Or(os.Getenv("GO"), "go"), "build", "-ldflags=-w", "-o", made, "./cmd/jitinject")
	cmd.Dir, cmd.Env = top, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil || made == path {
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		return err
	}
	program, err := os.ReadFile(made)
	if err != nil {
		return err
	}
	return os.WriteFile(path, program, 0o755)
}
