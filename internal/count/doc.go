// Package count counts the samples in jitted code, and those of them that the result shows in a
// function. It looks addresses up as perf does, in the same mappings.
package count
