// Package messages lists all texts that the program prints, so that people can read them at once.
// Its test keeps docs/messages.txt current:
//
//	go test ./internal/messages -update
package messages
