// Package show prints what files hold: jitdumps, recordings in all their forms, objects
// of jitted functions, logs of Mono's profiler, traces of XRay, and metadata of OpenJ9 in
// jitdumps and captures (j9.go). Of XRay it also makes a table of how long functions took
// (xraystats.go, durations.go).
//
// A format is one file that knows how to walk its records and calls the methods of a
// [form] for each: begin, the fields, end. There are two forms, text for people and
// JSON for programs (text.go, json.go), so what one shows the other shows, too. A new
// format is one more entry in formats, in show.go.
//
// With a filter, a file has its line only if something of it is shown: the page of the
// form holds that line until there is another item.
//
// Everything is printed as it is read: nothing is kept but what a record of the file
// refers to, and that within bounds. Whatever comes from a file is escaped. Damage
// becomes an item of type "error" at the place where it is, and reading goes on where
// the codec knows how.
package show
