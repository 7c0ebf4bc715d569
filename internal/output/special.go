package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// kernelLink matches the links that the kernel makes for open files, such as that of a shell's
// >(command), and the system's links to them.
var kernelLink = regexp.MustCompile(`^(/dev/(stdout|stderr|fd/\d+)|/proc/(self|\d+)/fd/\d+)$`)

// openSpecial opens an output that exists and is no regular file: a FIFO or a device. It returns nil
// for regular files, and fails for what cannot be an output. mode is that of the file behind links.
//
// A recording has addresses that other users must not see, and a device does not come back once it
// is overwritten. So a FIFO or device must be named by the user, must belong to the user or to root,
// and must not lie behind a link, which anyone may have made.
func openSpecial(opts *config.Options, mode fs.FileMode) (*Output, error) {
	path := opts.Output
	link, err := sys.Lstat(path)
	if err != nil {
		return nil, Error(path, err)
	}
	isLink := link.Mode()&os.ModeSymlink != 0
	what := ""
	switch {
	case mode.IsDir():
		return nil, fmt.Errorf("%s is a directory; name a file with %s", quote.Printable(path), inOutput())
	case mode&os.ModeSocket != 0:
		return nil, fmt.Errorf("%s is a socket; name a file with %s", quote.Printable(path), inOutput())
	case mode&os.ModeDevice != 0:
		what = "a device"
	case mode&os.ModeNamedPipe != 0:
		what = "a FIFO"
	case isLink && kernelLink.MatchString(path):
		return nil, fmt.Errorf("%s is a link that belongs to the system; name a file with %s", quote.Printable(path), inOutput())
	default:
		return nil, nil
	}
	flags := os.O_WRONLY | unix.O_NOFOLLOW
	if st, ok := link.Sys().(*syscall.Stat_t); ok && !isLink {
		// Before it is opened: opening a FIFO waits for a reader.
		if err := checkOwner(st.Uid); err != nil && !opts.DefaultOutput {
			return nil, Error(path, err)
		}
	}
	switch {
	case opts.DefaultOutput:
		return nil, fmt.Errorf("%s is %s, which was not named; name it, or a file, with %s", quote.Printable(path), what, inOutput())
	case isLink && kernelLink.MatchString(path):
		flags = os.O_WRONLY
	case isLink:
		return nil, fmt.Errorf("%s is a symbolic link to %s, and is not followed: anyone could have put it there; name %s itself, or a file, with %s", quote.Printable(path), what, what, inOutput())
	}
	f, err := sys.OpenFile(path, flags, 0)
	if err != nil {
		return nil, Error(path, err)
	}
	if err := checkSpecial(f, mode); err != nil {
		f.Close()
		return nil, Error(path, err)
	}
	return &Output{path: path, file: f, Stream: mode&os.ModeNamedPipe != 0, noSync: opts.NoSync, progress: opts.Progress}, nil
}

// checkSpecial fails unless the open file is still of the given kind and belongs to the user or to
// root.
func checkSpecial(f *sys.File, mode fs.FileMode) error {
	var st unix.Stat_t
	if err := sys.Fstat(f.Fd(), &st); err != nil {
		return err
	}
	now, err := f.Stat()
	switch {
	case err != nil:
		return err
	case now.Mode().Type() != mode.Type():
		return errors.New("it was replaced a moment ago")
	}
	return checkOwner(st.Uid)
}

// checkOwner fails unless a FIFO or device belongs to the user or to root.
func checkOwner(uid uint32) error {
	if uid != 0 && int(uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d: that user would receive the recording", uid)
	}
	return nil
}
