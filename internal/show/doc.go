// Package show prints what files hold, for people as text and for programs as JSON. It is the core
// that all formats share, and knows none of them.
//
// A format is a package below this one whose name begins with show; it gives a [Format]. The
// registry, internal/formats, has the list of all, [File] finds the one that a file has. What
// several formats show has packages of its own: listing for code, frames for unwind tables, callstats
// for tables of calls.
//
// A format walks the records of a file and calls the methods of a [Form] for each: Begin,
// the fields, End. There are two forms, [TextForm] and one for JSON, so what one shows the
// other shows, too.
//
// With a filter, a file has its line only if something of it is shown: the form holds
// that line until there is another item.
//
// Everything is printed as it is read: nothing is kept but what a record of the file
// refers to, and that within bounds. Whatever comes from a file is escaped. Damage
// becomes an item of type "error" at the place where it is, and reading goes on where
// the codec knows how.
package show
