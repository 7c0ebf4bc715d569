package fetch

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/format/elffile"
)

// check returns why a file of size bytes is not the object with a build id, or nil.
func check(file io.ReaderAt, size int64, id string) error {
	if size == 0 {
		return errors.New("the file is empty")
	}
	f, err := elffile.Open(file)
	if err != nil {
		return errors.New("the file is no ELF file")
	}
	switch has := f.BuildID(); {
	case has == "":
		return errors.New("the file has no build id")
	case has != id:
		return fmt.Errorf("the file has the build id %s", hex.EncodeToString([]byte(has)))
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL && !fits(s.Offset, s.FileSize, size) {
			return errors.New("the file is cut: it ends before its last section")
		}
	}
	for _, p := range f.Progs {
		if !fits(p.Off, p.Filesz, size) {
			return errors.New("the file is cut: it ends before its last segment")
		}
	}
	return nil
}

// fits reports whether n bytes at an offset are in a file of size bytes.
func fits(offset, n uint64, size int64) bool {
	return offset <= uint64(size) && n <= uint64(size)-offset
}
