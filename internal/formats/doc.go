// Package formats is the registry of the formats of side files: [All] has a line for each, with
// its functions to identify a file, to find and open it, to read the calls in it, and to show
// it. Whoever asks what a file is asks here. Formats that are no side files have a small table of
// names in identify.go, and one of what shows them in show.go.
package formats
