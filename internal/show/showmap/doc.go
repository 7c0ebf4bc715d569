// Package showmap shows perf maps: their functions one by one, and how many there are. A map is read
// once from front to back, and nothing is kept of it.
package showmap
