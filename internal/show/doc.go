// Package show prints what files hold, for people as text and for programs as JSON. It is the core
// that all formats share, and knows none of them.
//
// Each format has a package below this one. Its name begins with show, and it has a variable of type
// [Format]. The registry, internal/formats, lists all of them; [File] gets the list in its options and
// finds the format of a file. Packages that several formats share are listing (code), frames (unwind
// tables) and callstats (tables of calls). showtest is for tests.
//
// A format walks the records of a file and calls the methods of a [Form] for each: Begin,
// the fields, End. There are two forms, [TextForm] and one for JSON, so what one shows the
// other shows, too.
//
// With a filter, the line about the file itself is written only before another item: the
// form holds it until then.
//
// Everything is printed as it is read: nothing is kept but what a record of the file
// refers to, and that within bounds. Whatever comes from a file is escaped. Damage
// becomes an item of type "error" at the place where it is, and reading goes on where
// the codec knows how.
package show
