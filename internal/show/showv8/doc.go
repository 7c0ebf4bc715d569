// Package showv8 shows logs of V8: code and its source with lines and inlined calls, scripts, moves,
// and what else the log has. A log is read once from front to back. For each script the starts of
// lines are kept, and for each function its place, both up to a bound. The package knows no other
// format.
package showv8
