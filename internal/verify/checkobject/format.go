package checkobject

import (
	"io"

	"github.com/jitinject/jitinject/internal/verify"
)

// Format is how ELF files are checked.
var Format = verify.Format{Kind: "ELF object", Name: "an ELF object", Rules: rules, Check: checkFile, Identify: isELF}

// isELF reports whether a file begins as ELF files do.
func isELF(src io.ReaderAt, _ string) bool {
	var magic [4]byte
	n, _ := src.ReadAt(magic[:], 0)
	return string(magic[:n]) == "\x7fELF"
}
