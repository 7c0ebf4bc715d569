// Package addrs has ranges of memory, half open, and sets of them that are kept sorted
// and joined. It also has the owner of each address, and ranges that come and go in
// time. It knows nothing of what lies there.
package addrs
