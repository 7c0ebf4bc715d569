// Package checkrecording checks recordings, injected or not: the file around the records, their order,
// ids and fields, and the mappings of jitted functions. A recording refers to objects, so their rules
// in checkobject are checked with it. Which side files belong to a recording, others tell it: it knows
// none of their formats.
package checkrecording
