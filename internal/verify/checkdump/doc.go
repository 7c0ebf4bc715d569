// Package checkdump checks jitdumps, alone and beside results. A dump is walked record by record. Faults that
// show only over all functions, or if code is disassembled, are found by the engine's reader of dumps: it fixes
// them, and each fix is a rule that is broken.
package checkdump
