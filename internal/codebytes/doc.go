// Package codebytes reads the code of functions from elsewhere, for dumps that have only
// addresses: from core dumps of the process (core.go) and from files that it had mapped
// (image.go).
package codebytes
