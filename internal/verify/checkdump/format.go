package checkdump

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/checkproducer"
)

// Format is how jitdumps are checked. A file with the name of a dump is one, whatever is
// in it.
var Format = verify.Format{
	Kind: "jitdump", Name: "a jitdump", Rules: slices.Concat(rules, checkproducer.Rules), Check: checkFile,
	HasName: func(path string) bool {
		base := filepath.Base(path)
		return strings.HasPrefix(base, "jit-") && strings.HasSuffix(base, ".dump")
	},
}

//go:embed rules.txt
var texts string

// rules are the rules for dumps, alone and beside their recordings.
var rules = verify.ReadRules(texts)
