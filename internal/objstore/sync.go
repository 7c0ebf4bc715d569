package objstore

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Thousands of small files are durable soonest by one syncfs of their file system. Writing back one
// file after the other costs a commit of the file system's journal for each. syncfs also returns
// errors of writing back (Linux 5.8), which nothing else would report.

// Sync makes the files of all directories durable.
func (s *Stores) Sync() error {
	done := make(map[uint64]bool) // file systems, by device
	for _, st := range s.sorted() {
		var at unix.Stat_t
		err := sys.Fstat(st.fd, &at)
		if err == nil && !done[at.Dev] {
			err = sys.Syncfs(st.fd)
			done[at.Dev] = true
		}
		if err != nil {
			return fmt.Errorf("%s: %w", quote.Printable(st.path), notOnDisk(err))
		}
	}
	return nil
}

// Sync makes the files of the tree durable. Those that an earlier run made may not be: that run may
// have been killed, or had no syncs.
func (t *SourceTree) Sync() error {
	if t == nil || !t.used {
		return nil
	}
	if err := t.root.Sync(); err != nil {
		return fmt.Errorf("%s: %w", quote.Printable(t.path), notOnDisk(err))
	}
	return nil
}

// notOnDisk says that written files may not be durable.
func notOnDisk(err error) error {
	return fmt.Errorf("what was written there may not be on the disk: %w", safefile.WithoutPath(err))
}
