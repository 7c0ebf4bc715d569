package testrec

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Relocate rewrites the perf.data of an unpacked recording so that its mappings
// name the dumps and programs in that directory, and the copies of other files below
// its directory root: perf inject looks for dumps nowhere else, perf script 6.1 ends
// where it wants lines of a program that is not there, and stacks are unwound by the
// tables of such files. It understands files as perf record on x86-64 writes them, and nothing
// more.
func Relocate(dir string) error {
	path := filepath.Join(dir, "perf.data")
	in, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	dataAt, dataSize := le.Uint64(in[40:]), le.Uint64(in[48:])
	var data []byte
	last := lastInodes(in[dataAt : dataAt+dataSize])
	for rest := in[dataAt : dataAt+dataSize]; len(rest) > 0; {
		size := le.Uint16(rest[6:])
		rec := rest[:size]
		if name, inode := mappedFile(rec); name != "" && last[name] == inode {
			rec = relocated(rec, name, dir)
		}
		data = append(data, rec...)
		rest = rest[size:]
	}
	out := append(append(bytes.Clone(in[:dataAt]), data...), in[dataAt+dataSize:]...)
	le.PutUint64(out[48:], uint64(len(data)))
	// The feature table follows the data: an offset and a size for each feature.
	// The first feature follows the table.
	was, is := dataAt+dataSize, dataAt+uint64(len(data))
	n := (le.Uint64(in[was:]) - was) / 16
	for ; n > 0; n, is = n-1, is+16 {
		le.PutUint64(out[is:], le.Uint64(out[is:])+uint64(len(data))-dataSize)
	}
	return os.WriteFile(path, out, 0o600)
}

// What MMAP2 records hold: a name behind mmapHead bytes and before a trailer, and an inode,
// unless there is a build id in its place.
const (
	mmapHead     = 72
	mmapTrailer  = 16
	mmapDevice   = 40 // major and minor number
	mmapInode    = 48
	mmapVersion  = 56
	mmapBuildID  = 1 << 14 // of misc
	mmapFileSize = 16      // of what tells a file from others: device and inode
)

// mappedFile returns the file that a record maps: its name, and what tells it from others
// of that name. The name is "" for other records.
func mappedFile(rec []byte) (name, inode string) {
	if binary.LittleEndian.Uint32(rec) != 10 {
		return "", ""
	}
	name = string(bytes.TrimRight(rec[mmapHead:len(rec)-mmapTrailer], "\x00"))
	return name, string(rec[mmapDevice : mmapDevice+mmapFileSize])
}

// lastInodes returns the file that each name stands for last: a program that is started by
// chroot has other files of the same names than chroot has.
func lastInodes(data []byte) map[string]string {
	last := make(map[string]string)
	for len(data) > 0 {
		size := binary.LittleEndian.Uint16(data[6:])
		if name, inode := mappedFile(data[:size]); name != "" {
			last[name] = inode
		}
		data = data[size:]
	}
	return last
}

// relocated returns a record that maps a file of a name with that in dir or below its root
// instead, and a file below its root as if that had been recorded.
func relocated(rec []byte, name, dir string) []byte {
	path, st, isCopy := placed(name, dir)
	if path == "" {
		return rec
	}
	padded := append([]byte(path), 0)
	for len(padded)%8 != 0 {
		padded = append(padded, 0)
	}
	out := append(bytes.Clone(rec[:mmapHead]), padded...)
	out = append(out, rec[len(rec)-mmapTrailer:]...)
	le := binary.LittleEndian
	le.PutUint16(out[6:], uint16(len(out)))
	if isCopy && le.Uint16(out[4:])&mmapBuildID == 0 {
		le.PutUint32(out[mmapDevice:], unix.Major(st.Dev))
		le.PutUint32(out[mmapDevice+4:], unix.Minor(st.Dev))
		le.PutUint64(out[mmapInode:], st.Ino)
		le.PutUint64(out[mmapVersion:], 0)
	}
	return out
}

// placed returns where a file is now, or "" if it is not in dir. isCopy says that it is
// below dir's root.
func placed(name, dir string) (path string, st unix.Stat_t, isCopy bool) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", st, false
	}
	for i, path := range []string{filepath.Join(abs, filepath.Base(name)), filepath.Join(abs, "root", name)} {
		if strings.HasPrefix(name, "/") && unix.Stat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			return path, st, i > 0
		}
	}
	return "", st, false
}
