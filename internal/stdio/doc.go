// Package stdio writes to standard output: texts, with an error if they are lost, and through a
// pager.
package stdio
