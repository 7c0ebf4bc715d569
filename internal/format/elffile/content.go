package elffile

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/jitinject/jitinject/internal/wire"
)

// maxExpansion bounds the size of a decompressed section: that many times its size in the file, and
// minExpanded bytes. Debugging information shrinks to a third, its strings to a tenth.
const (
	maxExpansion = 32
	minExpanded  = 1 << 20
)

// Raw returns a reader of a section's bytes in the file.
func (s *Section) Raw() *io.SectionReader {
	f := s.file
	at := min(s.Offset, f.size)
	return io.NewSectionReader(f.src, int64(at), int64(min(s.FileSize, f.size-at, f.most)))
}

// Data returns the content of a section. It decompresses that. A section without bytes in the file has
// none.
func (s *Section) Data() ([]byte, error) {
	b, err := s.file.read(s.Offset, s.FileSize)
	if s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	if err == nil && s.Flags&elf.SHF_COMPRESSED != 0 {
		b, err = s.decompressed(b)
	}
	return b, err
}

// decompressed returns the content of a compressed section.
func (s *Section) decompressed(b []byte) ([]byte, error) {
	f := s.file
	c := wire.NewCursor(formatName, "compressed section", b, f.ByteOrder, int64(s.Offset))
	kind := elf.CompressionType(c.U32("ch_type"))
	if f.Class == elf.ELFCLASS64 {
		c.U32("ch_reserved")
	}
	size := f.word(&c, "ch_size")
	f.word(&c, "ch_addralign")
	limit := uint64(len(b))*maxExpansion + minExpanded
	if c.Err() == nil && size > limit {
		c.Bad("ch_size", "%d bytes, and %d are allowed for %d in the file", size, limit, len(b))
	}
	rest := c.Rest()
	if err := c.Err(); err != nil {
		return nil, err
	}
	return Decompress(kind, rest, size)
}

// Decompress returns the content of a compressed section, which has size bytes.
func Decompress(kind elf.CompressionType, b []byte, size uint64) ([]byte, error) {
	var in io.Reader
	switch kind {
	case elf.COMPRESS_ZLIB:
		z, err := zlib.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("zlib: %w", err)
		}
		in = z
	case elf.COMPRESS_ZSTD:
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(size+minExpanded))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		defer z.Close()
		in = z
	default:
		return nil, fmt.Errorf("compressed by %v, which is not supported", kind)
	}
	var out bytes.Buffer // grows with the content, not with the claim
	if n, err := io.Copy(&out, io.LimitReader(in, int64(size)+1)); err != nil {
		return nil, fmt.Errorf("decompression stopped after %d of %d bytes: %w", n, size, err)
	} else if uint64(n) != size {
		return nil, fmt.Errorf("decompressed to %d bytes or more, want %d", n, size)
	}
	return out.Bytes(), nil
}
