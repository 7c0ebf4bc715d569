// Package diagnose explains missing results. [Explain] says why there was nothing to inject, or
// nothing of a process, from what is known of its runtime. [Unresolved] says why no sample of a
// dump is in its functions.
package diagnose
