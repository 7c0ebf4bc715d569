package checkmap

import (
	_ "embed"

	"github.com/jitinject/jitinject/internal/verify"
)

//go:embed rules.txt
var texts string

// rules are the rules for perf maps.
var rules = verify.ReadRules(texts)
