// Package stdio is standard input and output. It looks for a recording on the one. It writes texts to
// the other, also through a pager, with an error if they are lost.
package stdio
