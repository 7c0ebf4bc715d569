// Package stdio is standard input and output: it looks for a recording on the one, and writes texts to
// the other, with an error if they are lost, and through a pager.
package stdio
