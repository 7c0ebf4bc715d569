// Command make writes a made-up recording: a perf.data and a jitdump with as many
// functions as one likes.
//
//	go run ./internal/testrec/make [-code BYTES | -tiny] FUNCTIONS DIR
package main
