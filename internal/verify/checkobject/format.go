package checkobject

import (
	_ "embed"

	"github.com/jitinject/jitinject/internal/verify"
)

// Format is how ELF files are checked.
var Format = verify.Format{Kind: "ELF object", Name: "an ELF object", Rules: rules, Check: checkFile}

//go:embed rules.txt
var texts string

// rules are the rules for ELF files: for all, and for objects of jitted functions.
var rules = verify.ReadRules(texts)
