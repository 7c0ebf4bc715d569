// Package memcode is the common part of dumps without bytes of code: these come from a memory of
// the process, and unwind tables are derived from them.
package memcode
