// Package j9gen makes random bodies of OpenJ9's JIT metadata for tests: such as
// OpenJ9's own compiler could have written (createMethodMetaData in MetaData.cpp),
// of every shape that package j9meta knows.
//
// The same seed and Options give the same body, and the same blob.
package j9gen
