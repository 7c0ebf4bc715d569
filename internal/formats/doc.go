// Package formats is the registry of the formats of side files: [All] has a line for each, with
// its functions to identify a file, to find and open it, to read the calls in it, to show and to
// check it. Whoever asks what a file is asks here. Formats that are no side files have small tables:
// of names in identify.go, of what shows them in show.go, of what checks them in verify.go.
package formats
