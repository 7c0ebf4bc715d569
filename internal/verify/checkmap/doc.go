// Package checkmap checks perf maps, alone and beside the recording of their process. It has a reader
// of its own.
package checkmap
