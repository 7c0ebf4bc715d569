package checkgdbjit

import (
	_ "embed"

	"github.com/jitinject/jitinject/internal/verify"
)

//go:embed rules.txt
var texts string

// rules are the rules for core dumps: those of "JIT Compilation Interface" in GDB's manual, and what
// naming the functions takes.
var rules = verify.ReadRules(texts)
