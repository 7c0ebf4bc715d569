// Package report holds what a run tells: the [Summary] with its [Problem]s and [Reason]s,
// whose JSON form docs/summary.md describes, and the [Progress] that another goroutine may
// ask for at any time. It decides nothing.
package report
