// Package printed writes what `jitinject verify` finds, as text or JSON. A user first reads what a
// [Preview] of the engine says: how many samples a recording will show, what costs the others, and
// what to do. Then come the diagnostics, without those that jitinject repairs. The author of a runtime
// gets all diagnostics, with their rules.
package printed
