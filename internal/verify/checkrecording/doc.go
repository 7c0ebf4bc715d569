// Package checkrecording checks recordings, injected or not: the file around the records, their
// order, ids and fields, and the mappings of jitted functions. A recording refers to objects, so
// checkobject checks these with it. A function that is given tells which side files belong to a
// recording: the package knows none of their formats.
package checkrecording
