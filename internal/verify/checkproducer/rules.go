package checkproducer

import (
	_ "embed"

	"github.com/jitinject/jitinject/internal/verify"
)

//go:embed rules.txt
var texts string

// Rules are the capabilities that a dump should have. Each advice has the function of jitdump.h that
// writes the capability, and the section of docs/producers.md that explains it.
var Rules = verify.ReadRules(texts)
