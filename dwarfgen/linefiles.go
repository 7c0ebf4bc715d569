package dwarfgen

import (
	"strings"

	"github.com/jitinject/jitinject/internal/wire"
)

// A file is a file of the table. Its full name is stored in two parts, and files share directories.
type file struct {
	name string
	dir  int // 0 is Dir, n the n-1st of dirs

	source string // "" for none
	md5    [16]byte
	hasMD5 bool
}

// A FileID identifies a file of its line table.
type FileID int

// AddFile adds a file and returns its id, or finds the one of that name. The first file is the
// unit's own.
//
// An absolute name is split at its last slash, and readers join it again. Some readers (debug/dwarf
// of Go) do not recognize an absolute file name.
func (t *LineTable) AddFile(name string) FileID {
	if id, ok := t.fileIDs[upToNUL(name)]; ok {
		return id
	}
	return t.AddOtherFile(name)
}

// AddOtherFile adds a file and returns its id, even if another one has the name: their sources or
// digests tell them apart.
func (t *LineTable) AddOtherFile(name string) FileID {
	name = upToNUL(name)
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

// SetSource stores a file's text in the line table, for readers without access to the file. Version
// 4 has no place for it.
//
// The form is LLVM's, which DWARF 6 will have (issue 180201.1), with LLVM's number, since DWARF 5
// has none. Lines end with "\n". An empty text is stored as a single "\n". Other files of the table
// have an empty string, which means that there is no text. A text with a NUL is dropped: it cannot
// be written, and a part of it would look complete.
//
// Not every reader skips unknown content types. libbfd, of binutils up to 2.47 at least, rejects
// the whole table. addr2line and objdump -l, and with them perf, then have no lines and no inlined
// calls for the unit. LLVM, elfutils, gdb, readelf, debug/dwarf of Go and delve read on.
func (t *LineTable) SetSource(id FileID, text string) {
	if strings.IndexByte(text, 0) >= 0 {
		text = ""
	} else if text == "" {
		text = "\n"
	}
	t.files[id].source = text
}

// SetMD5 sets the MD5 digest of a file's contents. Digests are written only if every file of the
// table has one, because there is no value for a missing one. Version 4 has no place for it.
func (t *LineTable) SetMD5(id FileID, digest [16]byte) {
	t.files[id].md5, t.files[id].hasMD5 = digest, true
}

// fileNumber returns the number of a file in the line program and in attributes. Both versions
// count from 1: see filesV5.
func fileNumber(id FileID) uint64 { return uint64(id) + 1 }

// Content types of the version 5 file table [7.22].
const (
	lnctPath           = 0x1
	lnctDirectoryIndex = 0x2
	lnctMD5            = 0x5
	lnctLLVMSource     = 0x2001 // of the range for users
)

// filesV5 writes directory and file table [6.2.4.1]. The first file is stored twice, as number 0
// and as number 1, as in GNU as. Readers disagree about the first number in version 5, and so all
// get the right file.
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
	w.Uleb(lnctDirectoryIndex) // the last: delve loses it if others follow
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

// contents reports whether all files have an MD5 digest, and whether any has its text.
func (t *LineTable) contents() (md5, source bool) {
	md5 = len(t.files) > 0
	for i := range t.files {
		md5 = md5 && t.files[i].hasMD5
		source = source || t.files[i].source != ""
	}
	return md5, source
}

// filesV4 writes the directory table and the file table. Directory 0 is the compilation directory,
// which is not written. Files count from 1.
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
