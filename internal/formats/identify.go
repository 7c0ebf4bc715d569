package formats

import (
	"debug/elf"
	"io"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/runtime/gdbjit"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/runtime/openj9"
	"github.com/jitinject/jitinject/internal/runtime/perfmap"
	"github.com/jitinject/jitinject/internal/runtime/v8"
	"github.com/jitinject/jitinject/internal/runtime/xray"
	"github.com/jitinject/jitinject/internal/safefile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/perfdata"
)

// These values are the kinds of files. Side files have them in config.SideFile and report.DumpSummary.
const (
	Unknown   = ""
	Recording = "perf.data"
	Jitdump   = jitdump.Kind
	Mono      = mono.Kind
	XRay      = xray.Kind
	J9        = openj9.Kind
	V8Log     = v8.Kind
	GDBJIT    = gdbjit.Kind // only in DumpSummary: from core dumps and processes
	PerfMap   = perfmap.Kind
	Core      = "core"
	ELF       = "elf" // a program or a shared object
)

// others are the names of kinds that are no side files, with their articles.
var others = map[string]string{
	Unknown:   "a file of another kind",
	Recording: "a recording",
	Core:      "a core dump",
	ELF:       "an ELF file",
}

// Name returns the name of a kind, with its article.
func Name(kind string) string {
	if f := Of(kind); f != nil {
		return f.Name
	}
	return others[kind]
}

// Identify returns the kind of a file. It is Unknown if the file cannot be read, or is not a regular file.
func Identify(path string) string {
	kind, _, _ := identify(path)
	return kind
}

// Unpacker returns the command that unpacks a file if that is compressed and of no kind otherwise, or "".
func Unpacker(path string) string {
	if kind, tool, _ := identify(path); kind == Unknown {
		return tool
	}
	return ""
}

// Unidentified returns the error of reading a file or a directory whose kind is Unknown, or nil. A path
// without a file is no error.
func Unidentified(path string) error {
	kind, _, err := identify(path)
	if st, serr := sys.Stat(path); err == nil && serr == nil && st.IsDir() {
		_, err = sys.ReadDir(path)
	}
	if kind != Unknown || safefile.IsAbsent(err) {
		return nil
	}
	return safefile.WithoutPath(err)
}

// identify returns the kind of a file, and how it is unpacked if it is compressed. The error is that of
// reading it.
func identify(path string) (kind, unpacker string, err error) {
	// Do not open a FIFO: a waiting writer would lose its reader at once.
	if st, err := sys.Stat(path); err != nil || !st.Mode().IsRegular() {
		return Unknown, "", err
	}
	fd, err := sys.OpenPath(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return Unknown, "", err
	}
	file, err := safefile.RegularFile(fd, path)
	if err != nil {
		return Unknown, "", err
	}
	defer file.Close()
	if kind := identifyOther(file); kind != Unknown {
		return kind, "", nil
	}
	for i := range All {
		if All[i].Identify(file, path) {
			return All[i].Kind, "", nil
		}
	}
	var head [4]byte
	n, _ := file.ReadAt(head[:], 0)
	return Unknown, codebytes.Unpacker(head[:n]), file.Failed()
}

// IsDirectory reports whether a path is a directory of side files of one kind that are used
// together. It returns this kind.
func IsDirectory(path string) (string, bool) {
	if st, err := sys.Stat(path); err != nil || !st.IsDir() {
		return Unknown, false
	}
	for i := range All {
		if All[i].Holds != nil && All[i].Holds(path) {
			return All[i].Kind, true
		}
	}
	return Unknown, false
}

// identifyOther returns the kind of a file that is not a side file, or Unknown.
func identifyOther(file io.ReaderAt) string {
	var head [elf.EI_NIDENT + 2]byte
	n, _ := file.ReadAt(head[:], 0)
	switch b := string(head[:n]); {
	case perfdata.HasMagic(head[:n]):
		return Recording
	case n < len(head) || !strings.HasPrefix(b, elf.ELFMAG):
		return Unknown
	}
	typ := elf.Type(head[elf.EI_NIDENT]) | elf.Type(head[elf.EI_NIDENT+1])<<8
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		typ = typ<<8 | typ>>8
	}
	if typ == elf.ET_CORE {
		return Core
	}
	return ELF
}
