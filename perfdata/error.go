package perfdata

import "github.com/jitinject/jitinject/internal/wire"

// An Error describes a fault in a recording and its place. Errors of this package about some bytes
// are of this type, or wrap it: match them with errors.As and a variable of type *Error. Its fields
// are
//
//	Format   string // FormatName
//	Record   string // the record's name or that of another part, such as "SAMPLE" or "file header"
//	Field    string // the field, as the kernel's and perf's headers call it; may be empty
//	Offset   int64  // of the field in bytes: in a decoded record, or else in the file
//	Text     string // the fault and the expected value
//	InRecord bool   // Offset counts from the start of the record
//
// It wraps no other error. Errors of reading the input are returned as they are, or wrapped in
// others.
type Error = wire.Error
