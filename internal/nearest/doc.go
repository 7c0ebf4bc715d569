// Package nearest finds the word that was meant where another one was typed.
package nearest
