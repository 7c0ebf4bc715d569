package checkobject

import "github.com/jitinject/jitinject/internal/verify"

// Format is how ELF files are checked.
var Format = verify.Format{Kind: "ELF object", Name: "an ELF object", Rules: rules, Check: checkFile}
