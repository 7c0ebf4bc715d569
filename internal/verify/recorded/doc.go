// Package recorded reads recordings of perf for the checks, in any of their forms. It finds the processes of a
// recording and the dumps that they map. It complains about nothing.
package recorded
