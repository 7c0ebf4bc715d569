package output

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Commit gives the finished result its name. An earlier result becomes PATH.old, as with perf,
// unless it was empty. When Commit returns nil, the result is on the disk, and a power cut does not
// lose it. After an error, the earlier results have the names that they had. If even that fails,
// the error says where they are.
//
// A problem means that the result has its name, but may not be on the disk, or that the earlier
// result is not PATH.old.
func (o *Output) Commit() (problem, err error) {
	if o.Temp == nil {
		if err = o.finishStream(); err == nil {
			o.progress.Finish()
		}
		return nil, err
	}
	err = o.sync()
	if cerr := o.file.Close(); err == nil {
		err = cerr
	}
	published := false
	if err == nil {
		defer safefile.Hold()()
		if published, err = o.Temp.Publish(filepath.Base(o.path), o.noSync); published {
			o.progress.Finish()
		}
	}
	switch {
	case published && err != nil:
		return fmt.Errorf("%s: %w", quote.Printable(o.path), err), nil
	case err != nil:
		return nil, Error(o.path, err)
	}
	return nil, nil
}

// finishStream ends an output that has no temporary file.
func (o *Output) finishStream() (err error) {
	var st unix.Stat_t
	if !o.noSync {
		kind := sys.Fstat(o.file.Fd(), &st)
		switch {
		case kind != nil: // it may be a file
			if err = o.file.Sync(); errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EROFS) {
				err = nil // it is a pipe, or another device that has nothing to sync
			}
		case st.Mode&unix.S_IFMT == unix.S_IFREG || st.Mode&unix.S_IFMT == unix.S_IFBLK:
			err = o.file.Sync()
		}
	}
	if !o.keep {
		if cerr := o.file.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		return Error(o.path, err)
	}
	return nil
}

// sync makes the contents of the result durable.
func (o *Output) sync() error {
	switch {
	case o.noSync:
		return nil
	case o.dir: // it may have many files
		return sys.Syncfs(o.file.Fd())
	}
	return o.file.Sync()
}

// checkOwner fails if the present output cannot be renamed, because it belongs to another user and
// is in a directory such as /tmp.
func (o *Output) checkOwner() error {
	var dir, st unix.Stat_t
	if err := sys.Fstat(o.parent, &dir); err != nil {
		return err
	}
	user := uint32(os.Geteuid())
	if dir.Mode&unix.S_ISVTX == 0 || user == 0 || dir.Uid == user {
		return nil
	}
	for _, name := range []string{filepath.Base(o.path), filepath.Base(o.path) + safefile.OldSuffix} {
		err := sys.Fstatat(o.parent, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
		if err == nil && st.Uid != user {
			return fmt.Errorf("%s in it belongs to user %d, and only that user may rename it", quote.Printable(name), st.Uid)
		}
	}
	return nil
}
