package journal

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// A Record describes a file.
type Record struct {
	Kind Kind
	Dir  *Dir
	Name string // relative to Dir; "" for objects
	Ino  uint64 // inode number; 0 if the run crashed before or while it made the file
	// Type is that of a partial file: S_IFREG or S_IFDIR.
	Type uint32
	// Lock is the descriptor of a lock file in the process that made the record.
	Lock int
	// Hash is that of an object's name.
	Hash uint32
}

// A Dir is a directory with files of a run.
type Dir struct {
	Path     string
	dev, ino uint64
}

// Open opens the directory. It fails if the path leads to another directory now. The caller closes
// the descriptor.
func (d *Dir) Open() (int, error) {
	fd, err := sys.OpenPath(d.Path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err = sys.Fstat(fd, &st); err == nil && (uint64(st.Dev) != d.dev || st.Ino != d.ino) {
		err = errors.New("it was moved or replaced")
	}
	if err != nil {
		sys.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Log is what a journal says.
type Log struct {
	Records []Record // in the order in which they were made
	Kept    bool     // files stay
	Stream  bool     // the result goes to a pipe or a device
	Done    bool     // the result is complete
	Full    bool     // some records are missing
}

// HasResult reports whether the run was to put a file or directory into its place, as far as the
// records say.
func (l *Log) HasResult() bool {
	return slices.ContainsFunc(l.Records, func(r Record) bool { return r.Kind == Result })
}

// Read returns the records of a journal. buf is the memory that [Begin] was called with, in this
// process or in another one. A journal that was never begun is empty.
func Read(buf []byte) (log Log) {
	if w := current.Load(); w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	if len(buf) < headerSize {
		return log
	}
	used := order.Uint64(buf)
	log.Kept, log.Full = buf[8]&flagKept != 0, buf[8]&flagFull != 0
	log.Stream, log.Done = buf[8]&flagStream != 0, buf[8]&flagDone != 0
	var dirs []*Dir
	for at := uint64(headerSize); at+recordSize <= min(used, uint64(len(buf))); {
		b := buf[at:]
		size := uint64(order.Uint32(b[20:]))
		at += recordSize + (size+7)&^7
		if at > uint64(len(buf)) {
			break
		}
		name := string(b[recordSize : recordSize+size])
		r := Record{Kind: Kind(order.Uint32(b)), Name: name, Ino: order.Uint64(b[8:])}
		if r.Kind == directory {
			dirs = append(dirs, &Dir{Path: name[8:], dev: order.Uint64([]byte(name)), ino: r.Ino})
			continue
		}
		if r.Kind == dropped {
			continue
		}
		if number := order.Uint32(b[4:]); number < uint32(len(dirs)) {
			r.Dir = dirs[number]
		} else {
			break
		}
		switch extra := order.Uint32(b[16:]); r.Kind {
		case Partial:
			r.Type = extra
		case Lock:
			r.Lock = int(extra)
		case Object:
			r.Hash = extra
		}
		log.Records = append(log.Records, r)
	}
	return log
}
