// Package words writes numbers, sizes and times as people read them: [Number], [Count] and [Plural]
// with nouns, [Size] and [Duration] with units. Messages of the command have them; JSON has the plain
// values.
package words
