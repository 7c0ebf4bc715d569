# Functions of many shapes. Each spends its time on one line, which a comment marks: see
# internal/truth. Ruby's map has names only; JRuby's dump has lines, too.
# ruby --yjit-perf truth.rb [MILLISECONDS for each function]
require_relative 'other'

N = 2000

def declared(n)
  s, i = 1, 0
  while (i += 1) < n do s = (s * 31 + i) & 0xffffff end # hot: declared
  s
end

module Walks
  def walk(n)
    s, i = 2, 0
    while (i += 1) < n do s = (s * 33 + i) & 0xffffff end # hot: walk
    s
  end
end

class Shape
  def inherited(n)
    s, i = area, 0
    while (i += 1) < n do s = (s * 35 + i) & 0xffffff end # hot: inherited
    s
  end
end

class Point < Shape
  include Walks
  attr_reader :x

  def initialize(n = 1)
    s, i = 3, 0
    while (i += 1) < n do s = (s * 37 + i) & 0xffffff end # hot: initialize
    @x = s
  end

  def area = 7

  def method_of(n)
    s, i = @x, 0
    while (i += 1) < n do s = (s * 39 + i) & 0xffffff end # hot: method_of
    s
  end

  def value=(n)
    s, i = 4, 0
    while (i += 1) < n do s = (s * 41 + i) & 0xffffff end # hot: value
    @x = s & 7
  end

  def method_missing(name, n)
    s, i = 5, 0
    while (i += 1) < n do s = (s * 43 + i) & 0xffffff end # hot: method_missing
    s
  end

  def respond_to_missing?(name, all = false) = true

  def odd?(n)
    s, i = 6, 0
    while (i += 1) < n do s = (s * 45 + i) & 0xffffff end # hot: odd?
    s.odd?
  end

  def still!(n)
    s, i = 7, 0
    while (i += 1) < n do s = (s * 47 + i) & 0xffffff end # hot: still!
    s
  end

  def self.of_class(n)
    s, i = 8, 0
    while (i += 1) < n do s = (s * 49 + i) & 0xffffff end # hot: of_class
    s
  end

  def call(n)
    s, i = 9, 0
    while (i += 1) < n do s = (s * 51 + i) & 0xffffff end # hot: call
    s
  end
end

class << Point
  def of_singleton(n)
    s, i = 10, 0
    while (i += 1) < n do s = (s * 53 + i) & 0xffffff end # hot: of_singleton
    s
  end
end

def yielder(n)
  yield n
end

def blocky(n)
  yielder(n) do |k|
    s, i = 11, 0
    while (i += 1) < k do s = (s * 55 + i) & 0xffffff end # hot: blocky
    s
  end
end

def lambda_of
  lambda do |n|
    s, i = 12, 0
    while (i += 1) < n do s = (s * 57 + i) & 0xffffff end # hot: lambda_of
    s
  end
end

def rescued(n)
  s, i = 13, 0
  begin
    while (i += 1) < n do s = (s * 59 + i) & 0xffffff end # hot: rescued
    raise ArgumentError, 'raised'
  rescue ArgumentError
    s += 1
  ensure
    s -= 1
  end
  s
end

def recursive(n)
  return 0 if n <= 0

  s, i = 14, 0
  while (i += 1) < 500 do s = (s * 61 + i) & 0xffffff end # hot: recursive
  s ^ recursive(n - 500)
end

def keywords(n:, factor: 63)
  s, i = 15, 0
  while (i += 1) < n do s = (s * factor + i) & 0xffffff end # hot: keywords
  s
end

def splat(*more)
  s, i = more.size, 0
  while (i += 1) < more[0] do s = (s * 65 + i) & 0xffffff end # hot: splat
  s
end

def floats(n)
  s, i = 0.5, 0
  while (i += 1) < n do s = s * 0.999 + 0.25 end # hot: floats
  s
end

def arrays(n)
  a, s, i = [1, 2, 3, 4, 5, 6, 7, 8], 16, 0
  while (i += 1) < n do s = (s + a[i & 7]) & 0xffffff end # hot: arrays
  s
end

def untiled(n)
  s = 17
  s = (s * 67 + n) & 0xffffff until (n -= 1) < 0 # hot: untiled
  s
end

def cased(n)
  s, i = 18, 0
  while (i += 1) < n do s = case s & 3 when 0 then s + i when 1 then s ^ i when 2 then s - 5 else (s * 7) & 0xffffff end end # hot: cased
  s
end

def nested(n)
  s, i = 19, 0
  while (i += 1) < 100 do k = 0; while (k += 1) < n / 100 do s = (s * 69 + k) & 0xffffff end end # hot: nested
  s
end

POINT = Point.new
LAMBDA = lambda_of
FUNCTIONS = [
  ->(n) { declared(n) }, ->(n) { POINT.walk(n) }, ->(n) { POINT.inherited(n) }, ->(n) { Point.new(n) }, ->(n) { POINT.method_of(n) },
  ->(n) { POINT.value = n }, ->(n) { POINT.absent(n) }, ->(n) { POINT.odd?(n) }, ->(n) { POINT.still!(n) }, ->(n) { Point.of_class(n) },
  ->(n) { POINT.(n) }, ->(n) { Point.of_singleton(n) }, ->(n) { blocky(n) }, ->(n) { LAMBDA.(n) }, ->(n) { rescued(n) },
  ->(n) { recursive(n) }, ->(n) { keywords(n: n) }, ->(n) { splat(n, 2, 3) }, ->(n) { floats(n) }, ->(n) { arrays(n) },
  ->(n) { untiled(n) }, ->(n) { cased(n) }, ->(n) { nested(n) }, ->(n) { Other.square(n) }, ->(n) { Other.inlining(n) },
].freeze

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond)

milliseconds = (ARGV[0] || 40).to_i
FUNCTIONS.each do |f|
  limit = now + milliseconds
  f.(N) while now < limit
end
puts "#{FUNCTIONS.size} functions"
