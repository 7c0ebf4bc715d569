package jitdump

import "github.com/jitinject/jitinject/internal/wire"

// An Error describes a fault in a record or the file header, and its place. Match it with errors.As
// and a variable of type *Error. Its fields are
//
//	Format   string // FormatName
//	Record   string // the record's name, as RecordID.String returns it, or "file header"
//	Field    string // the field, as the specification calls it; may be empty
//	Offset   int64  // of the field in bytes: in the file, or in a record in the making
//	Text     string // the fault and the expected value
//	InRecord bool   // not used here: false
//
// It wraps no other error. Errors of reading the input are returned as they are, or wrapped in
// others.
type Error = wire.Error
