package checkobject

import (
	_ "embed"

	"github.com/jitinject/jitinject/internal/verify"
)

//go:embed rules.txt
var texts string

// rules are the rules for ELF files: for all, and for objects of jitted functions.
var rules = verify.ReadRules(texts)
