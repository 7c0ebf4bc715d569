// Package formats is the registry of side file formats. [All] has an entry for each, with its
// functions to identify a file, to find and open it, to read its calls, to show and to check it.
// All code that needs the kind of a file asks here. Other formats have small tables: names in
// identify.go, display in show.go, checks in verify.go.
package formats
