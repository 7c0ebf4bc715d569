// Package callstats sums up calls by function, and shows a table of how long they took. It keeps the
// lengths of up to 4 million calls. Beyond that it counts calls in buckets, for the functions that have
// most of them. The middle of a bucket is at most 0.4 % off. It does not know the format that calls
// come from.
package callstats
