package locate

import (
	"debug/elf"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/source"
)

// A FileKind is what a file is, as far as its first bytes tell.
type FileKind int

// The kinds of files that Options can name.
const (
	FileUnknown   FileKind = iota
	FileRecording          // Options.Input
	FileJitdump            // Options.Dumps
	FileMonoLog            // Options.Mono
	FileXRay               // Options.XRay
	FileJ9                 // Options.J9
	FileCore               // Options.CodeFrom
	FileELF                // a program or a shared object: Options.CodeFrom, Options.XRayBinary
)

// String says what a file of the kind is, with its article.
func (k FileKind) String() string {
	switch k {
	case FileRecording:
		return "a recording"
	case FileJitdump:
		return "a jitdump"
	case FileMonoLog:
		return "a log of Mono's profiler"
	case FileXRay:
		return "an XRay trace"
	case FileJ9:
		return "a capture of OpenJ9's metadata"
	case FileCore:
		return "a core dump"
	case FileELF:
		return "an ELF file"
	}
	return "a file of another kind"
}

// SniffFile returns the kind of a file. A capture is known by the file beside it. What cannot be opened, and what is no regular file, is
// of no kind that is known.
func SniffFile(path string) FileKind {
	// A FIFO is not opened: who waits to write to it would lose the reader at once.
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return FileUnknown
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return FileUnknown
	}
	file, err := safefile.RegularFile(fd, path)
	if err != nil {
		return FileUnknown
	}
	defer file.Close()
	kind := sniff(file)
	if kind == FileUnknown && source.IsJ9Capture(path) { // by the file beside it: its own bytes do not tell
		return FileJ9
	}
	return kind
}

// HasCaptures reports whether a path is that of a directory with captures of OpenJ9's metadata.
func HasCaptures(path string) bool {
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		return false
	}
	captures, _, err := source.FindJ9Captures(path)
	return err == nil && len(captures) > 0
}

func sniff(file *os.File) FileKind {
	switch source.Sniff(file) {
	case source.JitdumpFormat:
		return FileJitdump
	case source.MonoLogFormat:
		return FileMonoLog
	case source.XRayFormat:
		return FileXRay
	}
	var head [elf.EI_NIDENT + 2]byte
	n, _ := file.ReadAt(head[:], 0)
	switch b := string(head[:n]); {
	case strings.HasPrefix(b, "PERFILE2"), strings.HasPrefix(b, "2ELIFREP"):
		return FileRecording
	case n < len(head) || !strings.HasPrefix(b, elf.ELFMAG):
		return FileUnknown
	}
	typ := elf.Type(head[elf.EI_NIDENT]) | elf.Type(head[elf.EI_NIDENT+1])<<8
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		typ = typ<<8 | typ>>8
	}
	if typ == elf.ET_CORE {
		return FileCore
	}
	return FileELF
}
