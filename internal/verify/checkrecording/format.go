package checkrecording

import (
	_ "embed"

	"github.com/jitinject/jitinject/internal/verify"
)

// Kind is the kind of recordings.
const Kind = "perf.data"

// Format is how recordings are checked.
var Format = verify.Format{Kind: Kind, Name: "a perf.data", Rules: rules, Check: checkFile}

//go:embed rules.txt
var texts string

// rules are the rules for recordings, injected or not.
var rules = verify.ReadRules(texts)
