// Package formats is the registry of the formats of side files: [All] has a line for each, with
// its functions to identify a file, to find and open it, to read the calls in it and to check it.
// Whoever asks what a file is asks here.
package formats
