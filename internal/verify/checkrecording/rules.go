package checkrecording

import (
	_ "embed"

	"github.com/jitinject/jitinject/internal/verify"
)

//go:embed rules.txt
var texts string

// rules are the rules for recordings, injected or not.
var rules = verify.ReadRules(texts)
