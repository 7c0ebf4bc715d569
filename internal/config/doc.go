// Package config holds what a run is asked to do: the [Options]. Package inject publishes
// them under the same names.
package config
