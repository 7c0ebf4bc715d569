// Package show prints what files hold, for people as text and for programs as JSON. It is the core
// that all formats share, and knows none of them.
//
// Each format has a package below this one. Its name begins with show, and it has a variable of type
// [Format]. Package formats/display lists all of them; [File] gets the list in its options and
// finds the format of a file. Packages that several formats share are listing (code) and frames
// (unwind tables). showtest is for tests.
//
// A format walks the records of a file, which are structs of its codec, and gives each to
// [Viewer.Record]. One walk over the fields of the struct prints it: tags of the codec, or a table
// there, say what a field is called and how its value is written; see [Fields]. The format adds what
// is no field (Viewer.Known, Viewer.Add): code, names that the file had so far, entries that are
// decoded here. The walk calls the methods of a [Form], which writes text or JSON, or
// nothing, but looks for what the filter says. So a field that is shown can be looked for, and
// in both outputs.
//
// With a filter, the line about the file itself is written only before another item: the
// form holds it until then.
//
// Everything is printed as it is read: nothing is kept but what a record of the file
// refers to, and that within bounds. Whatever comes from a file is escaped. Damage
// becomes an item of type "error" at the place where it is, and reading goes on where
// the codec knows how.
package show
