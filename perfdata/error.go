package perfdata

import "github.com/jitinject/jitinject/internal/wire"

// An Error says what is wrong with a recording, and where. Errors of this package that
// are about some bytes are of this type, or wrap it: match them with errors.As and a
// variable of type *Error. Its fields are
//
//	Format   string // FormatName
//	Record   string // the record's name or that of another part, such as "SAMPLE" or "file header"
//	Field    string // the field, as the kernel's and perf's headers call it; may be empty
//	Offset   int64  // of the field in bytes: of a record that was decoded, from its start; else from that of the file
//	Text     string // what is wrong, and what was expected
//	InRecord bool   // Error says that Offset counts from the start of the record
//
// There is no error below it to unwrap. Errors of reading the input are returned as they
// are, or wrapped in others.
type Error = wire.Error
