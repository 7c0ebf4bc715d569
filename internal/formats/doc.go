// Package formats is the registry of side file formats. [All] has an entry for each format. The
// entry has functions to identify, find and open its files, to read their calls, to show and to
// check them. All code that needs the kind of a file asks here. Other formats have small tables:
// names in identify.go, display in show.go, checks in verify.go.
package formats
