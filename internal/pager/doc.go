// Package pager shows the output of a command in a pager.
package pager
