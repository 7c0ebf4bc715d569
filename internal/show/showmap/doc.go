// Package showmap shows perf maps: their functions one by one. A map is read once from front to back,
// and nothing is kept of it.
package showmap
