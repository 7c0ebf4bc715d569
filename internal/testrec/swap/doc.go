// Command swap turns a perf.data or a jitdump into one of the other byte order:
//
//	go run ./internal/testrec/swap IN OUT
package main
