package checkrecording

import "github.com/jitinject/jitinject/internal/verify"

// Kind is the kind of recordings.
const Kind = "perf.data"

// Format is how recordings are checked.
var Format = verify.Format{Kind: Kind, Name: "a perf.data", Rules: rules, Check: checkFile}
