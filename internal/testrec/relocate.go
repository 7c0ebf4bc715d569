package testrec

import (
	"bytes"
	"encoding/binary"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Relocate rewrites the perf.data of an unpacked recording. Its mappings then name the
// dumps and programs in that directory, and copies of other files below its directory root.
// perf inject finds dumps only by these names. perf script 6.1 fails on lines of a missing
// program. Unwinding needs the files' tables. Relocate reads only files of perf record on
// x86-64.
func Relocate(dir string) error {
	return Rewrite(dir, func(in []byte) (out []byte) {
		last := lastInodes(in)
		for rec := range Records(in) {
			if name, inode := MappedFile(rec); name != "" && last[name] == inode {
				rec = relocated(rec, name, dir)
			}
			out = append(out, rec...)
		}
		return out
	})
}

// Rewrite replaces the records of the perf.data in a directory.
func Rewrite(dir string, records func(in []byte) (out []byte)) error {
	path := filepath.Join(dir, "perf.data")
	in, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	dataAt, dataSize := le.Uint64(in[40:]), le.Uint64(in[48:])
	data := records(in[dataAt : dataAt+dataSize])
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

// Records returns the records of a data section.
func Records(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(data) > 0 {
			size := binary.LittleEndian.Uint16(data[6:])
			if !yield(data[:size:size]) {
				return
			}
			data = data[size:]
		}
	}
}

// Layout of MMAP2 records: a name after mmapHead bytes and before a trailer, and an inode,
// unless a build id is in its place.
const (
	mmapHead     = 72
	mmapTrailer  = 16
	mmapDevice   = 40 // major and minor number
	mmapInode    = 48
	mmapVersion  = 56
	mmapBuildID  = 1 << 14 // of misc
	mmapFileSize = 16      // device and inode: identify a file
)

// MappedFile returns the name of the file that a record maps, and its device and inode. The
// name is "" for other records.
func MappedFile(rec []byte) (name, inode string) {
	if binary.LittleEndian.Uint32(rec) != 10 {
		return "", ""
	}
	name = string(bytes.TrimRight(rec[mmapHead:len(rec)-mmapTrailer], "\x00"))
	return name, string(rec[mmapDevice : mmapDevice+mmapFileSize])
}

// lastInodes returns the last file of each name: a program started by chroot has other
// files of the same names than chroot has.
func lastInodes(data []byte) map[string]string {
	last := make(map[string]string)
	for rec := range Records(data) {
		if name, inode := MappedFile(rec); name != "" {
			last[name] = inode
		}
	}
	return last
}

// relocated returns a record that maps name from dir or its root instead. For a file below
// the root, the record describes that file.
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

// placed returns the new path of a file, or "" if it is not in dir. isCopy means that it is
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
