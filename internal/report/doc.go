// Package report holds the output of a run for its user. It decides nothing. The [Summary] has
// [Problem]s and [Reason]s. cmd/jitinject/help/summary.md describes its JSON form. Any goroutine
// may read the [Progress], at any time. The types of a Summary are also those of package inject, which documents
// the fields that have no comment here.
package report
