// Package arrows holds a test and nothing else: which package may import which.
// The policy is a table in the test; changing a wall of the house means changing
// that table, in the same commit and with a reason.
package arrows
