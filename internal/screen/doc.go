// Package screen runs programs with windows on a screen that exists in memory only (Xvfb). It types
// keys for them with xdotool, and takes pictures. Tests and the pictures of the documentation use it.
package screen
