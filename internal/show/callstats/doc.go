// Package callstats counts calls by function, and shows a table of how long they took. Lengths are kept
// one by one as long as there is room (4 million of all functions), and then counted in buckets of
// 0.4 %. It does not know where calls come from.
package callstats
