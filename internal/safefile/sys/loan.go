package sys

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// A recording may have more dumps than a process may have files open. So files that are only read may be
// lent: of those, at most maxLent are open, and a read opens its file again.

// maxLent bounds the number of lent files that are open. It is a part of the usual limit, 1,024.
const maxLent = 256

// A loan is how a lent file is opened again.
type loan struct {
	path string
	info os.FileInfo // of the file

	// open is held for reading while a read uses the descriptor, and for writing to open or close it.
	open sync.RWMutex
	gone bool // the file was closed by its user
}

// lent are the lent files that are open, the oldest first.
var lent struct {
	sync.Mutex
	files []*File
}

// ErrReplaced means that another file is at the path of a lent one.
var ErrReplaced = errors.New("another file is there now")

// Lend lets other lent files close this regular file between reads. A read then opens it by its name, without
// following a link in the last part of that, and fails if another file is there. info is from its Stat. A file
// that is no longer there stays open.
func (f *File) Lend(info os.FileInfo) {
	if st, err := Lstat(f.f.Name()); err != nil || !os.SameFile(st, info) {
		return
	}
	f.loan = &loan{path: f.f.Name(), info: info}
	f.enter()
}

// enter counts an open file among the lent ones, and closes others if there are too many.
func (f *File) enter() {
	lent.Lock()
	defer lent.Unlock()
	lent.files = append(lent.files, f)
	for i := 0; len(lent.files) > maxLent && i < len(lent.files)-1; {
		old := lent.files[i]
		if !old.loan.open.TryLock() { // it is in use
			i++
			continue
		}
		old.f.Close()
		old.f, old.fd = nil, -1
		old.loan.open.Unlock()
		lent.files = append(lent.files[:i], lent.files[i+1:]...)
	}
}

// borrow makes sure that the file is open until giveBack is called.
func (f *File) borrow() error {
	l := f.loan
	if l == nil {
		return nil
	}
	for {
		l.open.RLock()
		if f.f != nil || l.gone {
			return nil
		}
		l.open.RUnlock()
		if err := f.reopen(); err != nil {
			return err
		}
	}
}

// giveBack says that a read has ended.
func (f *File) giveBack() {
	if f.loan != nil {
		f.loan.open.RUnlock()
	}
}

// reopen opens the file again.
func (f *File) reopen() error {
	l := f.loan
	l.open.Lock()
	if f.f != nil || l.gone {
		l.open.Unlock()
		return nil
	}
	again, err := OpenFile(l.path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == nil {
		var st os.FileInfo
		if st, err = again.Stat(); err == nil && (!os.SameFile(st, l.info) || st.Size() < l.info.Size()) {
			err = &os.PathError{Op: "open", Path: l.path, Err: ErrReplaced}
		}
		if err != nil {
			again.Close()
		}
	}
	if err == nil {
		f.f, f.fd = again.f, again.fd
	}
	l.open.Unlock()
	if err == nil {
		f.enter()
	}
	return err
}

// leave ends the loan of a file that is being closed. It reports whether the file is open.
func (f *File) leave() bool {
	lent.Lock()
	for i := range lent.files {
		if lent.files[i] == f {
			lent.files = append(lent.files[:i], lent.files[i+1:]...)
			break
		}
	}
	lent.Unlock()
	f.loan.open.Lock()
	defer f.loan.open.Unlock()
	f.loan.gone = true
	return f.f != nil
}
