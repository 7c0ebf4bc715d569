// Package checkmap checks perf maps, alone and beside results.
package checkmap
