// Package j9gen makes random bodies of OpenJ9's JIT metadata for tests, and encodes bodies
// and captures. Its bodies have every shape that package j9meta knows and that OpenJ9's
// compiler could have written (createMethodMetaData in MetaData.cpp).
//
// The same seed and Options give the same body, and the same blob.
package j9gen
