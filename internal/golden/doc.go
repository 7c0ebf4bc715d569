// Package golden holds no code, only a test: the list of what all runs over the
// recordings of testdata give, as hashes. A change of structure leaves every line as it
// is. A change of results changes lines, and whoever makes it says which and why.
//
//	go test ./internal/golden            compares
//	go test ./internal/golden -update    writes the list anew
//
// A line of testdata/results.txt:
//
//	recording  layout  objects  recording  summary
//
// objects is the SHA-256 over names and contents of all objects, in the order of names.
// recording is that of the perf.data. summary is that of the summary's JSON form,
// without fields that depend on the clock or the machine. Each is cut to 16 digits.
package golden
