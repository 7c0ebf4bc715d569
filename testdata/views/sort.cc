// Inlined calls of templates: sorts and counts words, for a fifth of a second.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

static unsigned next_word(unsigned x) { return x * 1664525u + 1013904223u; }

int main() {
	std::map<std::string, int> counts;
	unsigned x = 1;
	for (int round = 0; round < 40; round++) {
		std::vector<std::string> words;
		for (int i = 0; i < 4000; i++)
			words.push_back(std::to_string((x = next_word(x)) >> 22));
		std::sort(words.begin(), words.end());
		for (const auto& word : words)
			counts[word]++;
	}
	std::printf("%zu\n", counts.size());
}
