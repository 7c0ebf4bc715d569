package journal

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Kind says what a record is about.
type Kind uint32

const (
	// Partial is a file or a directory that will be renamed or removed.
	Partial Kind = iota + 1
	// Lock is a lock file.
	Lock
	// Result is the final name of the run's result, with the inode of its partial file.
	Result
	// Object is an object that did not exist before. The record has a hash of its name.
	Object
	// File is a file or a directory that did not exist before.
	File
	// dropped is a file that the run did not make.
	dropped
	// directory is a directory of later records. The name is its device number, in 8 bytes,
	// and its path.
	directory
)

const (
	headerSize = 16
	recordSize = 24
	flagKept   = 1
	flagFull   = 2
	flagStream = 4
	flagDone   = 8
)

var order = binary.NativeEndian

// A writer appends to a journal.
type writer struct {
	mu   sync.Mutex
	buf  []byte
	used int
	last int // offset of the last record
	dirs map[identity]uint32
}

// An identity is that of a directory.
type identity struct{ dev, ino uint64 }

// current is nil while nothing is recorded.
var current atomic.Pointer[writer]

// Begin has all files recorded in buf from now on. buf is zero.
func Begin(buf []byte) {
	if len(buf) < headerSize {
		return
	}
	order.PutUint64(buf, headerSize)
	current.Store(&writer{buf: buf, used: headerSize, dirs: make(map[identity]uint32)})
}

// An Entry is a record of a file that is about to be made. It has no inode number yet. The zero value
// does nothing.
type Entry struct {
	w  *writer
	at int
}

// AddPartial records that a partial file is about to be made in a directory, which is open as dir.
// kind is S_IFREG or S_IFDIR.
func AddPartial(dir int, name string, kind uint32) Entry { return add(Partial, dir, kind, name) }

// AddLock records that a lock file is about to be made or opened in a directory, which is open as
// dir.
func AddLock(dir int, name string) Entry { return add(Lock, dir, 0, name) }

// add adds a record without an inode number.
func add(kind Kind, dir int, extra uint32, name string) Entry {
	w := current.Load()
	if w == nil {
		return Entry{}
	}
	return Entry{w, w.add(kind, dir, 0, extra, name)}
}

// Objects are those of a directory. The zero value records nothing.
type Objects struct {
	w   *writer
	dir uint32
}

// ObjectsIn returns the objects of a directory, which is open as dir.
func ObjectsIn(dir int) Objects {
	w := current.Load()
	if w == nil {
		return Objects{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	number, ok := w.directory(dir)
	if !ok {
		w.buf[8] |= flagFull
		return Objects{}
	}
	return Objects{w, number}
}

// Add records that an object is about to be made, unless it exists.
func (o Objects) Add(name string) Entry {
	if o.w == nil {
		return Entry{}
	}
	hash := Hash(name)
	o.w.mu.Lock()
	defer o.w.mu.Unlock()
	return Entry{o.w, o.w.append(Object, o.dir, 0, hash, "")}
}

// Made records that the file was made, or is about to be. ino is its inode number.
func (e Entry) Made(ino uint64) {
	if e.at == 0 {
		return
	}
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	order.PutUint64(e.w.buf[e.at+8:], ino)
}

// Opened records that the file was made or opened. It is open as fd.
func (e Entry) Opened(fd int) {
	var st unix.Stat_t
	if e.at == 0 || sys.Fstat(fd, &st) != nil {
		return
	}
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	b := e.w.buf[e.at:]
	if Kind(order.Uint32(b)) == Lock {
		order.PutUint32(b[16:], uint32(fd))
	}
	order.PutUint64(b[8:], st.Ino)
}

// Drop records that the run did not make the file.
func (e Entry) Drop() {
	if e.at == 0 {
		return
	}
	e.w.mu.Lock()
	defer e.w.mu.Unlock()
	order.PutUint32(e.w.buf[e.at:], uint32(dropped))
}

// AddResult records that the partial file temp in a directory, which is open as dir, will get the
// name final. From then on, all other files of the run stay.
func AddResult(dir int, temp, final string) { addMade(Result, dir, temp, final) }

// AddFile records a file or a directory that did not exist before, in a directory, which is open as
// dir.
func AddFile(dir int, name string) { addMade(File, dir, name, name) }

// addMade adds a record of a file, with its inode number. name is its name now, and recorded the one
// in the record.
func addMade(kind Kind, dir int, name, recorded string) {
	w := current.Load()
	if w == nil {
		return
	}
	var st unix.Stat_t
	if sys.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		w.miss()
		return
	}
	w.add(kind, dir, st.Ino, 0, recorded)
}

// AddPath records a file or a directory that did not exist before.
func AddPath(path string) {
	w := current.Load()
	if w == nil {
		return
	}
	dir, err := sys.OpenPath(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		w.miss()
		return
	}
	defer sys.Close(dir)
	AddFile(dir, filepath.Base(path))
}

// Keep records that all files stay but partial files and locks, whatever becomes of the run.
func Keep() { set(flagKept) }

// Stream records that the result goes to a pipe or a device, from which nothing can be taken back.
func Stream() { set(flagStream) }

// Done records that the result is complete: its last byte is written, and durable where that was asked
// for. All files stay, as with Keep.
func Done() { set(flagKept | flagDone) }

func set(flags byte) {
	if w := current.Load(); w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.buf[8] |= flags
	}
}

// Hash returns the hash of an object's name.
func Hash(name string) uint32 {
	h := uint32(2166136261) // FNV-1a
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h
}

// miss records that a record is missing.
func (w *writer) miss() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf[8] |= flagFull
}

// add appends a record and returns its offset, or 0 if there is no room.
func (w *writer) add(kind Kind, dir int, ino uint64, extra uint32, name string) (at int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	number, ok := w.directory(dir)
	if !ok {
		w.buf[8] |= flagFull
		return 0
	}
	return w.append(kind, number, ino, extra, name)
}

// directory returns the number of an open directory. It adds a record if the directory is new.
func (w *writer) directory(fd int) (number uint32, ok bool) {
	var st unix.Stat_t
	if sys.Fstat(fd, &st) != nil {
		return 0, false
	}
	id := identity{uint64(st.Dev), st.Ino}
	if number, ok = w.dirs[id]; ok {
		return number, true
	}
	path, err := sys.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return 0, false
	}
	number = uint32(len(w.dirs))
	if w.append(directory, number, st.Ino, 0, string(order.AppendUint64(nil, id.dev))+path) == 0 {
		return 0, false
	}
	w.dirs[id] = number
	return number, true
}

// append appends a record. The size of the journal changes last: a process that crashes at any time
// leaves whole records.
func (w *writer) append(kind Kind, dir uint32, ino uint64, extra uint32, name string) (at int) {
	at = w.used
	if kind == Lock && w.isLock(w.last, dir, name) { // a run that waits for a lock tries again and again
		return w.last
	}
	end := at + recordSize + (len(name)+7)&^7
	if end > len(w.buf) {
		w.buf[8] |= flagFull
		return 0
	}
	b := w.buf[at:end]
	order.PutUint32(b, uint32(kind))
	order.PutUint32(b[4:], dir)
	order.PutUint64(b[8:], ino)
	order.PutUint32(b[16:], extra)
	order.PutUint32(b[20:], uint32(len(name)))
	copy(b[recordSize:], name)
	w.used, w.last = end, at
	order.PutUint64(w.buf, uint64(end))
	return at
}

// isLock reports whether the record at an offset is of a lock file.
func (w *writer) isLock(at int, dir uint32, name string) bool {
	b := w.buf[at:]
	return at > 0 && Kind(order.Uint32(b)) == Lock && order.Uint32(b[4:]) == dir && string(b[recordSize:recordSize+order.Uint32(b[20:])]) == name
}
