package safefile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A result gets its name in steps, and a run may be killed, or the power cut, after each. The
// earlier result, NAME, is to become NAME.old. On the way it has a side name, with the number of the
// new result's partial file:
//
//  1. The side name is made: a second name of NAME. A directory gets it instead of its name, and so
//     does a file where there are no hard links.
//  2. The partial file becomes NAME.
//  3. The side name becomes NAME.old.
//
// The directory is synced after 1 and 3: a power cut could leave 2 without 1 otherwise. If 1 or 2
// fails, what was done is taken back. [FinishOld] finishes the steps of a killed run.

// OldSuffix ends the name of an earlier result.
const OldSuffix = ".old"

// sideName returns the side name that belongs to a partial file, .NAME.old.eNUMBER.partial. The e,
// for earlier, distinguishes it from partial files of an output NAME.old.
func sideName(name, number string) string { return partialName(name+OldSuffix, "e"+number) }

// Publish gives the file or directory its final name. A file of that name becomes NAME.old, unless
// it is empty. With noSync, Publish does not wait for the disk.
//
// If published is true, the file has its name in spite of the error. The error says then that the
// name may not be on the disk, or that an earlier file has its side name.
//
// The caller calls [Hold] before.
func (p *Partial) Publish(name string, noSync bool) (published bool, err error) {
	sync := func() error { return nil }
	if !noSync {
		sync = p.syncDir
	}
	var st unix.Stat_t
	err = sys.Fstatat(p.dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		if err = p.rename(name, renameNew); err == nil {
			return true, unsure(sync())
		}
		if !errors.Is(err, unix.EEXIST) {
			return false, err
		}
		// Another run has just put its result there, which becomes the earlier one.
		err = sys.Fstatat(p.dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return false, err
	}
	if st.Size == 0 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		if err = p.rename(name, renameOver); err != nil {
			return false, err
		}
		return true, unsure(sync())
	}
	side, partial := sideName(name, p.number), p.Name
	linked, err := setAside(p.dir, name, side)
	if err != nil {
		return false, err
	}
	if err = sync(); err == nil {
		err = p.rename(name, renameOver)
	}
	if err != nil {
		return false, takeBack(err, p.dir, name, side, linked)
	}
	err = keepOld(p.dir, side, name+OldSuffix, partial)
	serr := unsure(sync())
	if err != nil && serr != nil {
		return true, fmt.Errorf("%w; %w", err, serr)
	}
	return true, cmp.Or(err, serr)
}

// unsure says that a name may not be on the disk.
func unsure(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("its name may not be on the disk, and a power cut may lose it: %w", err)
}

// setAside makes the side name. linked says that the file has its own name, too.
func setAside(dir int, name, side string) (linked bool, err error) {
	switch err = sys.Linkat(dir, name, dir, side, 0); err {
	case unix.EPERM, unix.EOPNOTSUPP, unix.ENOSYS, unix.EMLINK:
		// A directory, a file system without hard links, or a file that this user may not link
		// (fs.protected_hardlinks).
		return false, renameNew(dir, name, side)
	}
	return err == nil, err
}

// renameNew gives a file a name that no other file has. It fails with EEXIST if one has it. If the
// file system cannot rename so, a file that gets the name at the same moment is replaced. There is
// no other call: such file systems also lack hard links, or have none for this file.
func renameNew(dir int, name, to string) error {
	err := sys.RenameatNew(dir, name, dir, to)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		if !isFree(dir, to) {
			return unix.EEXIST
		}
		err = sys.Renameat(dir, name, dir, to)
	}
	return err
}

// takeBack gives the earlier result only its own name, after an error. If that fails, too, it adds
// to the error where the earlier result is.
func takeBack(err error, dir int, name, side string, linked bool) error {
	lost := error(nil)
	if linked {
		lost = Remove(dir, side)
	} else {
		lost = again(func() error { return sys.Renameat(dir, side, dir, name) })
	}
	if lost != nil && linked {
		return &LeftFile{Name: side, Made: err, Left: lost}
	}
	if lost != nil {
		return fmt.Errorf("%w; the file that had this name is %s now, because it could not be renamed: %w", err, quote.Printable(side), lost)
	}
	return err
}

// keepOld makes the side name the name of the old result. trash is a free name for a directory that
// has it.
func keepOld(dir int, side, old, trash string) error {
	err := sys.Renameat(dir, side, dir, old)
	switch {
	case errors.Is(err, unix.ENOENT): // another run was quicker, in FinishOld
		return nil
	case err == nil:
		// Renaming one name of a file to another of its names removes neither. Another run with
		// the same earlier result may have made it the old one.
		if err = Remove(dir, side); err != nil {
			err = &LeftFile{Name: side, Made: errors.New("the earlier result is " + quote.Printable(old)), Left: err}
		}
		return err
	case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST):
		if err = sys.Renameat(dir, old, dir, trash); err == nil {
			return replaceOld(dir, side, old, trash)
		}
	}
	if err != nil {
		return fmt.Errorf("the file that had this name is %s now: it could not become %s: %w", quote.Printable(side), quote.Printable(old), err)
	}
	return nil
}

// replaceOld makes the side name the name of the old result, a directory, which has the name trash.
func replaceOld(dir int, side, old, trash string) error {
	if err := again(func() error { return sys.Renameat(dir, side, dir, old) }); err != nil {
		text := ""
		if berr := again(func() error { return sys.Renameat(dir, trash, dir, old) }); berr != nil {
			text = fmt.Sprintf(", and the one before is %s", quote.Printable(trash))
		}
		return fmt.Errorf("the directory that had this name is %s now%s: it could not become %s: %w", quote.Printable(side), text, quote.Printable(old), err)
	}
	if err := removeDir(dir, trash); err != nil {
		return fmt.Errorf("the former %s is %s now, as it could not be removed: %w", quote.Printable(old), quote.Printable(trash), err)
	}
	return nil
}

// FinishOld finishes the steps that killed runs began with the earlier result. Otherwise the next
// run would take the side name, or remove the file of that name.
func FinishOld(dir int, name string) error {
	for i := range Guessed {
		if err := finishOld(dir, name, strconv.Itoa(i)); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

func finishOld(dir int, name, number string) error {
	side, partial := sideName(name, number), partialName(name, number)
	var aside, now unix.Stat_t
	if err := sys.Fstatat(dir, side, &aside, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if int(aside.Uid) != os.Geteuid() || isLocked(dir, partial) {
		return nil
	}
	err := sys.Fstatat(dir, name, &now, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, unix.ENOENT):
		return renameNew(dir, side, name)
	case err != nil:
		return err
	case now.Dev == aside.Dev && now.Ino == aside.Ino:
		return sys.Unlinkat(dir, side, 0)
	}
	// The directory that had the name .old. keepOld fails if it is still there and in the way.
	RemoveStale(dir, partial, unix.S_IFDIR)
	return keepOld(dir, side, name+OldSuffix, partial)
}

// isLocked reports whether another run writes a partial file.
func isLocked(dir int, partial string) bool {
	fd, err := sys.Openat(dir, partial, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer sys.Close(fd)
	return errors.Is(sys.Flock(fd, unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// syncDir makes the names in the directory durable.
func (p *Partial) syncDir() error {
	err := sys.Fsync(p.dir)
	if errors.Is(err, unix.EBADF) || errors.Is(err, unix.EINVAL) {
		// The user may not read the directory, or its file system does not sync directories.
		err = sys.Syncfs(p.lock)
	}
	return err
}

// tries is how often a step of taking back is tried: nothing better can be done when it fails.
const tries = 3

// again repeats a step of taking back that fails.
func again(do func() error) (err error) {
	for range tries {
		if err = do(); err == nil {
			break
		}
	}
	return err
}

// Remove removes a name of a directory. It returns nil if there is none.
func Remove(dir int, name string) error {
	return again(func() error {
		err := sys.Unlinkat(dir, name, 0)
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		return err
	})
}
