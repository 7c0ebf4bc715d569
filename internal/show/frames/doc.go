// Package frames shows unwind tables in the form of .eh_frame: CIEs, FDEs, and what an unwinder finds
// at each address. It does not know where a table was.
package frames
