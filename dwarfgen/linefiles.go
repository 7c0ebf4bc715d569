package dwarfgen

import (
	"strings"

	"github.com/jitinject/jitinject/internal/wire"
)

// A file is one of the table. Its full name stands there in two parts, the
// directory being shared with others.
type file struct {
	name string
	dir  int // 0 is Dir, n the n-1st of dirs

	source string // "" for none
	md5    [16]byte
	hasMD5 bool
}

// A FileID names a file of the line table it was added to.
type FileID int

// AddFile adds a file and returns its id. The first file is the unit's own.
//
// An absolute name is split at its last slash. Readers join it again; not all of
// them (debug/dwarf of Go) notice when a file name is absolute by itself.
func (t *LineTable) AddFile(name string) FileID {
	name = upToNUL(name)
	if id, ok := t.fileIDs[name]; ok {
		return id
	}
	f := file{name: name}
	if slash := strings.LastIndexByte(name, '/'); slash > 0 && name[0] == '/' && slash+1 < len(name) {
		f.name = name[slash+1:]
		f.dir = t.addDir(name[:slash])
	}
	id := FileID(len(t.files))
	t.files = append(t.files, f)
	if t.fileIDs == nil {
		t.fileIDs = make(map[string]FileID)
	}
	t.fileIDs[name] = id
	return id
}

func (t *LineTable) addDir(dir string) int {
	if id, ok := t.dirIDs[dir]; ok {
		return id
	}
	t.dirs = append(t.dirs, dir)
	if t.dirIDs == nil {
		t.dirIDs = make(map[string]int)
	}
	t.dirIDs[dir] = len(t.dirs)
	return len(t.dirs)
}

// SetSource puts a file's text into the line table, for readers that find no such
// file. Version 4 has no place for it.
//
// It is written as LLVM does it and as DWARF 6 will have it (issue 180201.1), with
// LLVM's number, since DWARF 5 has none: lines end with "\n", an empty text stands
// there as a single one, and other files of the table have an empty string, which
// means that there is no text. A text with a NUL cannot be written, a part of it
// would pass for all, and so it is left out.
//
// Not every reader skips content that it does not know. libbfd, of binutils up to
// 2.47 at least, rejects the whole table: addr2line and objdump -l, and with them
// perf, then have no lines and no inlined calls for the unit. LLVM, elfutils, gdb,
// readelf, debug/dwarf of Go and delve read on.
func (t *LineTable) SetSource(id FileID, text string) {
	if strings.IndexByte(text, 0) >= 0 {
		text = ""
	} else if text == "" {
		text = "\n"
	}
	t.files[id].source = text
}

// SetMD5 sets the MD5 digest of a file's contents. Only tables in which every
// file has one get them: there is no value for those that have none. Version 4
// has no place for it.
func (t *LineTable) SetMD5(id FileID, digest [16]byte) {
	t.files[id].md5, t.files[id].hasMD5 = digest, true
}

// fileNumber is what refers to a file, in the line program and in attributes.
// Both versions count from 1: see filesV5.
func fileNumber(id FileID) uint64 { return uint64(id) + 1 }

// Content types of the version 5 file table [7.22].
const (
	lnctPath           = 0x1
	lnctDirectoryIndex = 0x2
	lnctMD5            = 0x5
	lnctLLVMSource     = 0x2001 // of the range for users
)

// filesV5 writes directory and file table [6.2.4.1]. The first file is there
// twice, as number 0 and as number 1, as GNU as does it: readers disagree about
// where version 5 begins to count, and so nobody is wrong.
func (b *Builder) filesV5(t *LineTable) {
	w := &b.line
	w.U8(1) // directory_entry_format_count
	w.Uleb(lnctPath)
	w.Uleb(uint64(formLineStrp))
	w.Uleb(uint64(len(t.dirs)) + 1)
	b.refer(line, w, lineStr, b.lineStr.offset(t.Dir))
	for _, d := range t.dirs {
		b.refer(line, w, lineStr, b.lineStr.offset(d))
	}

	md5, source := t.contents()
	format := uint8(2) // file_name_entry_format_count
	if md5 {
		format++
	}
	if source {
		format++
	}
	w.U8(format)
	w.Uleb(lnctPath)
	w.Uleb(uint64(formLineStrp))
	if md5 {
		w.Uleb(lnctMD5)
		w.Uleb(uint64(formData16))
	}
	if source {
		w.Uleb(lnctLLVMSource)
		w.Uleb(uint64(formLineStrp))
	}
	w.Uleb(lnctDirectoryIndex) // the last: delve forgets it over what follows
	w.Uleb(uint64(formUdata))
	w.Uleb(uint64(len(t.files)) + 1)
	for i := -1; i < len(t.files); i++ {
		var f file
		if len(t.files) > 0 {
			f = t.files[max(i, 0)]
		}
		b.refer(line, w, lineStr, b.lineStr.offset(f.name))
		if md5 {
			w.Bytes(f.md5[:])
		}
		if source {
			b.refer(line, w, lineStr, b.lineStr.offset(f.source))
		}
		w.Uleb(uint64(f.dir))
	}
}

// contents reports whether all files have an MD5 digest, and whether one of them
// has its text.
func (t *LineTable) contents() (md5, source bool) {
	md5 = len(t.files) > 0
	for i := range t.files {
		md5 = md5 && t.files[i].hasMD5
		source = source || t.files[i].source != ""
	}
	return md5, source
}

// filesV4 writes the directory table, in which number 0 is the compilation
// directory and not written, and the file table, which counts from 1.
func filesV4(w *wire.Buffer, t *LineTable) {
	for _, d := range t.dirs {
		w.CString(d)
	}
	w.U8(0)
	for i := range t.files {
		w.CString(t.files[i].name)
		w.Uleb(uint64(t.files[i].dir))
		w.Uleb(0) // modification time: unknown
		w.Uleb(0) // length: unknown
	}
	w.U8(0)
}
