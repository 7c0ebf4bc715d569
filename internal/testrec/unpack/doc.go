// Command unpack unpacks one of the recordings in testdata into a directory, with
// markers that name the dumps there:
//
//	go run ./internal/testrec/unpack NAME DIR
package main
