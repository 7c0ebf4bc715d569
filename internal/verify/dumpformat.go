package verify

import (
	"io"
	"path/filepath"
	"strings"
)

// dumpFormat is how jitdumps are checked. A file with the name of a dump is one, whatever is
// in it.
var dumpFormat = Format{
	Kind: "jitdump", Name: "a jitdump", Rules: dumpRules, Check: checkDump,
	Claims: func(_ io.ReaderAt, path string) bool {
		base := filepath.Base(path)
		return strings.HasPrefix(base, "jit-") && strings.HasSuffix(base, ".dump")
	},
}
