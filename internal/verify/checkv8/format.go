package checkv8

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/jitinject/jitinject/internal/verify"
)

// Format is how logs are checked. A file with the name that V8 gives to logs is one, whatever is in
// it.
var Format = verify.Format{
	Kind: "V8 log", Name: "a V8 log", Rules: rules, Check: checkFile,
	Recognizes: func(_ io.ReaderAt, path string) bool {
		base := filepath.Base(path)
		return strings.HasPrefix(base, "isolate-0x") && strings.HasSuffix(base, ".log")
	},
}
