// Package cfi finds out how jitted code is unwound.
package cfi
