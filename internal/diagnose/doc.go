// Package diagnose says why there was nothing to inject, or nothing of a process, with what
// is known of its runtime ([Explain]), and why no sample of a dump is in its functions
// ([Unresolved]).
package diagnose
