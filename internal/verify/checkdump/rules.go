package checkdump

import (
	_ "embed"

	"github.com/jitinject/jitinject/internal/verify"
)

//go:embed rules.txt
var texts string

// rules are the rules for dumps, alone and beside their recordings.
var rules = verify.ReadRules(texts)
