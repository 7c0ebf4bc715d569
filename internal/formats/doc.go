// Package formats is the registry of the formats of side files: [All] has a line for each, with
// its functions to identify a file, to find and open it, to read the calls in it, and to show
// it. Whoever asks what a file is asks here. What is no side file is known in two places:
// identify.go identifies it, show.go has who shows it.
package formats
