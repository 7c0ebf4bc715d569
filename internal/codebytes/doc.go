// Package codebytes reads the code of functions for dumps that have only addresses. It reads core
// dumps of the process (core.go), the running process (live.go), and files that the process had
// mapped (image.go).
package codebytes
