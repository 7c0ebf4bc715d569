// Package addrs holds sets of addresses: ranges of memory, half open, and sets of them
// that are kept sorted and joined. It knows nothing of what lies there.
package addrs
