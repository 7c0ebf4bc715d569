// Package checkxray checks traces of XRay's flight data recorder, alone and beside recordings.
package checkxray
