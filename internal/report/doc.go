// Package report holds the output of a run for its user. It decides nothing. The [Summary] has
// [Problem]s and [Reason]s. cmd/jitinject/help/summary.md describes its JSON form. Any goroutine
// may read the [Progress], at any time.
package report
