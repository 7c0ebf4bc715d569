package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A large dump: 3 GB of code and 1 GB of its lines, and the room that it and its
// objects take.
const (
	largeFunctions = 90_000
	largeCode      = 32 << 10
	largeRoom      = 10 << 30
	largePeak      = 256 // MB that jitinject may need at the most
)

// large says how much memory jitinject needs for a dump of 4 GB, and fails if that
// is more than a small machine has to spare. Where there is no room for such a
// dump it says so, and that is no failure.
func (b *bench) large(base string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(base, &st); err != nil {
		return err
	}
	if free := int64(st.Bavail) * int64(st.Bsize); free < largeRoom {
		fmt.Fprintf(os.Stderr, "SKIPPED: a dump of 4 GB and its objects need %d GB, and %s has %d GB\n", largeRoom>>30, base, free>>30)
		return nil
	}
	m, err := newMedium(base, true)
	if err != nil {
		return err
	}
	defer m.close()
	made := testrec.Made{Functions: largeFunctions, CodeSize: largeCode}
	if err := m.fresh(recording{"large", made.Write}); err != nil {
		return err
	}
	dumps, err := filepath.Glob(filepath.Join(m.work(), "jit-*.dump"))
	if err != nil || len(dumps) != 1 {
		return errors.Join(errors.New("no dump was made"), err)
	}
	dump, err := os.Stat(dumps[0])
	if err != nil {
		return err
	}
	c := b.jitinject(byDefault)
	r, err := c.run(m.work())
	if err != nil {
		return err
	}
	c.results = []result{r}
	objects, bytes, err := countObjects(m.work())
	if err != nil {
		return err
	}
	text := fmt.Sprintf("A dump of %.1f GB with %s functions: %s objects of %.1f GB in all, %.0f s, %.0f MB of memory at the most.\n",
		gigabytes(dump.Size()), thousands(largeFunctions), thousands(objects), gigabytes(bytes), r.wall.Seconds(), c.peak())
	if err := b.shown.section("large", text); err != nil {
		return err
	}
	switch {
	case objects != largeFunctions:
		return fmt.Errorf("%d objects, not %d", objects, largeFunctions)
	case bytes < largeFunctions*largeCode:
		return fmt.Errorf("the objects have %d bytes, fewer than there are of code", bytes)
	case c.peak() > largePeak:
		return fmt.Errorf("%.0f MB of memory, more than %d", c.peak(), largePeak)
	}
	return allResolved(m.work())
}

// allResolved says whether perf finds a function for each sample of jitinject's
// result.
func allResolved(dir string) error {
	cmd := exec.Command("perf", "script", "-G", "-F", "ip,sym", "-i", ourResult)
	cmd.Dir, cmd.Env = dir, environment(dir)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("perf script: %w", err)
	}
	samples, unknown := strings.Count(string(out), "\n"), strings.Count(string(out), "[unknown]")
	if samples == 0 || unknown > 0 {
		return fmt.Errorf("of %d samples, perf finds no function for %d", samples, unknown)
	}
	return nil
}

func gigabytes(n int64) float64 { return float64(n) / (1 << 30) }

func countObjects(dir string) (n int, bytes int64, err error) {
	files, err := os.ReadDir(dir)
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), "jitted-") {
			continue
		}
		info, err := f.Info()
		if err != nil {
			return 0, 0, err
		}
		n++
		bytes += info.Size()
	}
	return n, bytes, err
}
