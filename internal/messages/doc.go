// Package messages lists all texts that the program prints, so that people can read them at once:
//
//	go test ./internal/messages -run List -v
//
// It has no code but tests. In the list, % is a value, and … a text that the program puts in. Lists of
// keywords are among the texts.
package messages
