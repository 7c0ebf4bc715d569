// Command make writes a made-up recording: a perf.data and a jitdump with as many
// functions as one likes.
//
//	go run ./internal/testrec/make [-code BYTES | -tiny] FUNCTIONS DIR
//
// or one of few functions, with gigabytes of samples:
//
//	go run ./internal/testrec/make -repeat GIGABYTES DIR
package main
