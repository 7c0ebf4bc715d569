// Package config holds the settings of a run: the [Options]. Package inject publishes them under
// the same names.
package config
