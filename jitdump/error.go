package jitdump

import "github.com/jitinject/jitinject/internal/wire"

// An Error says what is wrong with a record or the file header, and where. Match it with
// errors.As and a variable of type *Error. Its fields are
//
//	Format   string // FormatName
//	Record   string // the record's name, as RecordID.String has it, or "file header"
//	Field    string // the field, as the specification calls it; may be empty
//	Offset   int64  // of the field from the start of the file, in bytes; of a record that is only being made, from its start
//	Text     string // what is wrong, and what was expected
//	InRecord bool   // not in use here: false
//
// There is no error below it to unwrap. Errors of reading the input are returned as they
// are, or wrapped in others.
type Error = wire.Error
