package gate

// A floor has the least number of stacks with jitted frames that reach the bottom, and the
// least number of frames of all samples.
type floor struct{ whole, frames int }

// floors are slightly below the results of every layout, by recording and perf: perf reads
// the vdso of the machine it runs on. Comments have the measured numbers: whole stacks of
// all, frames, and the same with perf inject. Other stacks end with their copies.
var floors = map[string]map[string]floor{
	"node22-dwarf": {
		"6.1":  {208, 20840}, // 210 of 239, 20,862; perf inject 210, 20,772
		"6.12": {211, 20800}, // 213, 20,830; perf inject 213, 20,761
		"7.2":  {211, 20800}, // 213, 20,831; perf inject 0, 3,090
	},
	"node25-dwarf": {
		"6.1":  {12, 20800}, // 13 of 302, 20,842; perf inject 13, 20,753
		"6.12": {19, 20470}, // 20, 20,516; perf inject 20, 20,615, of them 188 junk
		"7.2":  {19, 20480}, // 21, 20,529; perf inject 0, 7,668
	},
	"node25-workers": {
		"6.1":  {48, 4150}, // 50 of 119, 4,166; perf inject 50, 4,161
		"6.12": {48, 4145}, // 50, 4,161; perf inject 50, 4,160
		"7.2":  {48, 4195}, // 50, 4,214; perf inject 0, 2,224
	},
	"node24-debian": {
		"6.1":  {375, 13450}, // 379 of 384, 13,495; perf inject 379, 13,497
		"6.12": {375, 13450}, // 379, 13,492
		"7.2":  {375, 13450}, // 379, 13,490; perf inject 0, 1,869
	},
	"php84-dwarf": {
		"6.1":  {105, 1430}, // 107 of 107, 1,459; perf inject 0, 544
		"6.12": {105, 1430}, // 107, 1,458; perf inject 0, 543
		"7.2":  {105, 1430}, // 107, 1,458; perf inject 67, 1,098; with dumps directly in /tmp, 107
	},
}
