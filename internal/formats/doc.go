// Package formats is the registry of side file formats. [All] has an entry for each format. The
// entry has the functions with which a run identifies, finds and opens its files, and reads their
// calls. All code that needs the kind of a file asks here. The first entry that fits a
// file counts, so a new one stands before perfmap's, which fits most text. identify.go has the names of the other
// files.
//
// A run shows and checks nothing. Package formats/display has the table for dump, and formats/checks
// that for verify.
package formats
