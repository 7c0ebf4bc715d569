package verify

import "io"

// objectFormat is how ELF files are checked.
var objectFormat = Format{Kind: "ELF object", Name: "an ELF object", Rules: objectRules, Check: checkObjectFile, Identify: isELF}

// isELF reports whether a file begins as ELF files do.
func isELF(src io.ReaderAt, _ string) bool {
	var magic [4]byte
	n, _ := src.ReadAt(magic[:], 0)
	return string(magic[:n]) == "\x7fELF"
}
